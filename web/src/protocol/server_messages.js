// The frames of what a server sends: no part of the app, but of the servers of its tests.
import { rowsTensors } from './attention.js';
import { encodeFrame } from './frame.js';
import { headerOf } from './messages.js';
import { INTERACTIVE_ROWS } from './steps/returned.js';

/** @type {Record<import('./messages.js').ServerMessage['type'], import('./messages.js').Written>} */
const FIELDS = {
  opened: [['session', 'session'], ['manifest', 'manifest'], ['dtype', 'dtype'], ['maxRows', 'max_rows'],
    ['maxContext', 'max_context'], ['version', 'version'], ['capabilities', 'capabilities', ''],
    ['layers', 'layers', 0], ['heads', 'heads', 0], ['cached', 'cached', 0], ['prefix', 'prefix', ''],
    ['interactiveRows', 'interactive_rows', INTERACTIVE_ROWS], ['tiers', 'tiers', ''], ['replica', 'replica', null],
    ['streamed', 'streamed', 0]],
  restored: [['session', 'session'], ['start', 'start'], ['known', 'known'], ['cached', 'cached'],
    ['prefix', 'prefix'], ['tiers', 'tiers', '']],
  result: [['session', 'session'], ['step', 'step'], ['cached', 'cached'], ['computeUs', 'compute_us', 0],
    ['queueUs', 'queue_us', 0], ['prefix', 'prefix', ''], ['attention', 'attention', null], ['reused', 'reused', 0],
    ['tiers', 'tiers', '']],
  error: [['code', 'code'], ['message', 'message'], ['retryable', 'retryable'],
    ['retryAfter', 'retry_after', null], ['session', 'session', null], ['step', 'step', null]],
  closed: [['session', 'session']],
  pong: [],
};

/**
 * The frame of `message`; fields that hold their default are left out.
 * @param {import('./messages.js').ServerMessage} message
 * @returns {Uint8Array}
 */
export function encodeServerMessage(message) {
  const header = headerOf(message, FIELDS[message.type]);
  if (message.type !== 'result') return encodeFrame(header);
  if (message.attention === null) return encodeFrame(header, { hidden: message.hidden });
  const { layers, heads } = message.attention;
  header.attention = { layers, heads };
  return encodeFrame(header, { hidden: message.hidden, ...rowsTensors(message.attention) });
}
