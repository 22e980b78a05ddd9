// The messages of split.v1 as plain objects, and their translation to frames. Reading is parsing.js.
//
// Device to server: open, step, close, ping. Server to device: opened, result, closed, pong, error.
import { requestValue, rowsTensors } from './attention.js';
import { encodeFrame } from './frame.js';

export const VERSION = 1;
export const SUBPROTOCOL = 'split.v1';
export const CONTENT_TYPE = 'application/vnd.gatelink.split.v1';

/** @typedef {import('../../types/gatelink.js').DType} DType */
/** @typedef {import('./tensor.js').Tensor} Tensor */
/** @typedef {import('./attention.js').AttentionRequest} AttentionRequest */
/** @typedef {import('./attention.js').AttentionRows} AttentionRows */
/**
 * @typedef {object} Open
 * @property {'open'} type
 * @property {string | null} manifest digest of the manifest whose ends the device holds
 * @property {DType | null} dtype null: the server's own
 * @property {number} version
 * @property {string[]} capabilities
 */
/**
 * @typedef {object} Opened a session exists; hidden states travel in `dtype`
 * @property {'opened'} type
 * @property {string} session
 * @property {string} manifest
 * @property {DType} dtype
 * @property {number} maxRows
 * @property {number} maxContext positions
 * @property {number} version
 * @property {string[]} capabilities
 * @property {number} layers 0: the server does not say
 * @property {number} heads of one layer
 */
/**
 * @typedef {object} Step keep `start` cached positions, append `embeddings` [n, H]
 * @property {'step'} type
 * @property {string} session
 * @property {number} step
 * @property {number} start
 * @property {Uint8Array} prefix chained digest of the positions kept
 * @property {Tensor} embeddings
 * @property {'last' | 'all'} rows
 * @property {string | null} adapter
 * @property {AttentionRequest | null} attention
 */
/**
 * @typedef {object} Result final-norm hidden states [n or 1, H]; times in microseconds
 * @property {'result'} type
 * @property {string} session
 * @property {number} step
 * @property {number} cached
 * @property {Tensor} hidden
 * @property {number} computeUs
 * @property {number} queueUs
 * @property {Uint8Array} prefix chained digest of the positions held; empty: the server does not say
 * @property {AttentionRows | null} attention
 */
/** @typedef {{type: 'close', session: string}} Close */
/** @typedef {{type: 'closed', session: string}} Closed */
/** @typedef {{type: 'ping'}} Ping */
/** @typedef {{type: 'pong'}} Pong */
/**
 * @typedef {object} Failure
 * @property {'error'} type
 * @property {string} code
 * @property {string} message
 * @property {boolean} retryable
 * @property {number | null} retryAfter seconds
 * @property {string | null} session
 * @property {number | null} step
 */
/** @typedef {Open | Step | Close | Ping} ClientMessage */
/** @typedef {Opened | Result | Closed | Pong | Failure} ServerMessage */

/**
 * Fields in the order they travel in: name, name on the wire, and the default that is left out.
 * @type {Record<string, [string, string, unknown?][]>}
 */
const FIELDS = {
  open: [['manifest', 'manifest', null], ['dtype', 'dtype', null], ['version', 'version'],
    ['capabilities', 'capabilities', '']],
  opened: [['session', 'session'], ['manifest', 'manifest'], ['dtype', 'dtype'], ['maxRows', 'max_rows'],
    ['maxContext', 'max_context'], ['version', 'version'], ['capabilities', 'capabilities', ''],
    ['layers', 'layers', 0], ['heads', 'heads', 0]],
  step: [['session', 'session'], ['step', 'step'], ['start', 'start'], ['prefix', 'prefix'],
    ['rows', 'rows', 'last'], ['adapter', 'adapter', null]],
  result: [['session', 'session'], ['step', 'step'], ['cached', 'cached'], ['computeUs', 'compute_us', 0],
    ['queueUs', 'queue_us', 0], ['prefix', 'prefix', '']],
  error: [['code', 'code'], ['message', 'message'], ['retryable', 'retryable'],
    ['retryAfter', 'retry_after', null], ['session', 'session', null], ['step', 'step', null]],
  close: [['session', 'session']],
  closed: [['session', 'session']],
  ping: [],
  pong: [],
};

/**
 * The frame of `message`; fields that hold their default are left out.
 * @param {ClientMessage | ServerMessage} message
 * @returns {Uint8Array}
 * @throws {import('./errors.js').FrameTooLarge} when the header outgrows its limit
 */
export function encodeMessage(message) {
  const header = headerOf(message);
  if (message.type === 'step') {
    if (message.attention !== null) header.attention = requestValue(message.attention);
    return encodeFrame(header, { embeddings: message.embeddings });
  }
  if (message.type !== 'result') return encodeFrame(header);
  if (message.attention === null) return encodeFrame(header, { hidden: message.hidden });
  const { layers, heads } = message.attention;
  header.attention = { layers, heads };
  return encodeFrame(header, { hidden: message.hidden, ...rowsTensors(message.attention) });
}

/** @param {ClientMessage | ServerMessage} message @returns {Record<string, unknown>} */
function headerOf(message) {
  const values = /** @type {Record<string, unknown>} */ (/** @type {unknown} */ (message));
  /** @type {Record<string, unknown>} */
  const header = { type: message.type };
  for (const [name, wireName, missing] of FIELDS[message.type]) {
    const value = values[name];
    if (missing === undefined || !isDefault(value, missing)) header[wireName] = value;
  }
  return header;
}

/** An empty list and empty bytes are noted as ''. @param {unknown} value @param {unknown} missing */
function isDefault(value, missing) {
  if (Array.isArray(value) || value instanceof Uint8Array) return missing === '' && value.length === 0;
  return value === missing;
}
