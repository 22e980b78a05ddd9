// What a device learns from a frame of its server.

/** @typedef {import('./messages.js').Opened} Opened */
/** @typedef {import('./messages.js').Failure} Failure */
/**
 * What a received frame meant. `completed`: float32 `hidden` [rows asked for, H], times in microseconds;
 * `attention` where it was asked for, an error where it cannot be true; `steps`: how many are answered by it, more than one
 * where a server that has gone on keeps no answer to the others; `inexact`: so many of the last positions stand on
 * rows that are not exact.
 * `restored`: the server holds the first `cached` positions of what it was asked for.
 * `deferred`: the server has no answer to this step; that to the next one tells whether it was appended.
 * `failed`: the server refused the outstanding message, nothing is outstanding any more; the server
 * may hold less than `cached`, and then answers the next step with start_beyond_cache or
 * prefix_mismatch. `ignored`: an answer that was already taken, a pong, a closed session.
 * @typedef {{type: 'opened', opened: Opened}
 *   | {type: 'restored', cached: number}
 *   | {type: 'completed', hidden: Float32Array, cached: number, computeUs: number, queueUs: number,
 *     attention: import('./attention.js').Told | import('./errors.js').AttentionInvalid | null, steps: number, inexact?: number}
 *   | {type: 'failed', failure: Failure}
 *   | {type: 'deferred'} | {type: 'ignored'}} Event
 */

/** @type {Event} */
export const IGNORED = { type: 'ignored' };
