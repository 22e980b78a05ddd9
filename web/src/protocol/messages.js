// The messages of split.v1 as plain objects, and the frames of those that a device sends. Reading is parsing.js,
// the other frames are in server_messages.js.
//
// Device to server: open, restore, step, close, ping. Server to device: opened, restored, result, closed, pong,
// error.
import { requestValue } from './attention.js';
import { encodeFrame } from './frame.js';

export const VERSION = 1;
export const SUBPROTOCOL = 'split.v1';
export const CONTENT_TYPE = 'application/vnd.gatelink.split.v1';

/** @typedef {import('../../types/gatelink.js').DType} DType */
/** @typedef {import('./tensor.js').Tensor} Tensor */
/** @typedef {import('./attention.js').AttentionRequest} AttentionRequest */
/** @typedef {import('./attention.js').AttentionRows} AttentionRows */
/** @typedef {import('./probe.js').Probe} Probe */
/**
 * @typedef {object} Open
 * @property {'open'} type
 * @property {string | null} manifest digest of the manifest whose ends the device holds
 * @property {DType | null} dtype null: the server's own
 * @property {number} version
 * @property {string[]} capabilities
 * @property {Probe | null} probe the prefixes that the session may begin with, in `dtype`
 * @property {string | null} cacheSalt what is kept of this device's sessions is found only by those that send
 *   the same
 * @property {import('./steps/tiers.js').Cache} cache the worst tier that is kept and found; off: none
 * @property {string | null} cacheGroup a group of principals that share the first `shareUntil` positions
 * @property {number} shareUntil
 * @property {boolean} wait a full server that has neighbours may let the device wait, in place of refusing it at once
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
 * @property {number} cached positions of the probe that are held already
 * @property {Uint8Array} prefix their chained digest
 * @property {number} interactiveRows with so many rows a step still is interactive
 * @property {import('./steps/tiers.js').Tiers} tiers which of the positions held are not exact
 * @property {string | null} replica what the server that answers calls itself among others like it
 * @property {number} streamed decoder layers that are read from disk in each pass
 */
/**
 * @typedef {object} Restore have a session hold as much of `probe` as the server has
 * @property {'restore'} type
 * @property {string} session
 * @property {number} start positions that it holds for certain, and keeps
 * @property {Uint8Array} prefix chained digest of those
 * @property {Probe | null} probe
 */
/**
 * @typedef {object} Restored `start` and `known` are those of the question
 * @property {'restored'} type
 * @property {string} session
 * @property {number} start
 * @property {number} known
 * @property {number} cached positions that the session holds
 * @property {Uint8Array} prefix their chained digest
 * @property {import('./steps/tiers.js').Tiers} tiers which of those positions are not exact
 */
/**
 * @typedef {object} Step keep `start` cached positions, append `embeddings` [n, H]
 * @property {'step'} type
 * @property {string} session
 * @property {number} step
 * @property {number} start
 * @property {Uint8Array} prefix chained digest of the positions kept
 * @property {Tensor} embeddings
 * @property {import('./steps/returned.js').Rows} rows whose states come back
 * @property {string | null} adapter
 * @property {AttentionRequest | null} attention
 */
/**
 * @typedef {object} Result final-norm hidden states [rows asked for, H]; times in microseconds
 * @property {'result'} type
 * @property {string} session
 * @property {number} step
 * @property {number} cached
 * @property {Tensor} hidden
 * @property {number} computeUs
 * @property {number} queueUs
 * @property {Uint8Array} prefix chained digest of the positions held; empty: the server does not say
 * @property {AttentionRows | null} attention
 * @property {number} reused rows that were sent in vain: the server had computed them before
 * @property {import('./steps/tiers.js').Tiers} tiers which of the positions held are not exact
 */
/** keep false: the server deletes what it keeps of it. @typedef {{type: 'close', session: string, keep: boolean}} Close */
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
/** @typedef {Open | Restore | Step | Close | Ping} ClientMessage */
/** @typedef {Opened | Restored | Result | Closed | Pong | Failure} ServerMessage */

/**
 * Fields in the order they travel in: name, name on the wire, and the default that is left out.
 * @typedef {[string, string, unknown?][]} Written
 */

/** @type {Record<ClientMessage['type'], Written>} */
const FIELDS = {
  open: [['manifest', 'manifest', null], ['dtype', 'dtype', null], ['version', 'version'],
    ['capabilities', 'capabilities', ''], ['cacheSalt', 'cache_salt', null], ['cache', 'cache', 'exact'],
    ['cacheGroup', 'cache_group', null], ['shareUntil', 'share_until', 0], ['wait', 'wait', false]],
  restore: [['session', 'session'], ['start', 'start'], ['prefix', 'prefix']],
  step: [['session', 'session'], ['step', 'step'], ['start', 'start'], ['prefix', 'prefix'],
    ['rows', 'rows', 'last'], ['adapter', 'adapter', null]],
  close: [['session', 'session'], ['keep', 'keep', true]],
  ping: [],
};

/**
 * The frame of `message`; fields that hold their default are left out.
 * @param {ClientMessage} message
 * @returns {Uint8Array}
 * @throws {import('./errors.js').FrameTooLarge} when the header outgrows its limit
 */
export function encodeMessage(message) {
  const header = headerOf(message, FIELDS[message.type]);
  if (message.type !== 'step') return encodeFrame('probe' in message ? { ...header, ...message.probe } : header);
  if (message.attention !== null) header.attention = requestValue(message.attention);
  return encodeFrame(header, { embeddings: message.embeddings });
}

/**
 * @param {ClientMessage | ServerMessage} message @param {Written} fields
 * @returns {Record<string, unknown>}
 */
export function headerOf(message, fields) {
  const values = /** @type {Record<string, unknown>} */ (/** @type {unknown} */ (message));
  /** @type {Record<string, unknown>} */
  const header = { type: message.type };
  for (const [name, wireName, missing] of fields) {
    const value = values[name];
    if (missing === undefined || !isDefault(value, missing)) header[wireName] = value;
  }
  return header;
}

/** What is empty is noted as ''. @param {unknown} value @param {unknown} missing */
function isDefault(value, missing) {
  if (Array.isArray(value) || value instanceof Uint8Array) return missing === '' && value.length === 0;
  if (typeof value === 'object' && value !== null) return missing === '' && Object.keys(value).length === 0;
  return value === missing;
}
