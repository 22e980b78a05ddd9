// The interface of a transport: it carries frames there and answers back, in order.

/**
 * One connection. One exchange at a time; after an exchange that failed or was aborted the
 * connection is closed, because its answer may still arrive. One that has `send` carries several frames at a time,
 * whose answers come in the order in which they were sent.
 * @typedef {object} Transport
 * @property {'websocket' | 'http'} name
 * @property {boolean} open whether it can carry a frame as far as is known
 * @property {Error | null} end why it cannot
 * @property {(frame: Uint8Array, options: {timeout: number, signal: AbortSignal}) => Promise<Uint8Array>}
 *   exchange the answer within `timeout` seconds; throws ConnectionLost (the same frame may be sent
 *   again over a new connection), AnswerLate, ServerUnreachable, ServerRefused, Cancelled
 * @property {(frame: Uint8Array) => void} [send] throws where the connection has ended
 * @property {(options: {timeout: number, signal: AbortSignal}) => Promise<Uint8Array>} [receive] the next answer,
 *   within `timeout` seconds from now; throws as `exchange`
 * @property {(answers: number) => void} [forgo] nobody waits for the next so many answers
 * @property {(maxFrame: number) => void} accept answers may have that many bytes from here on
 * @property {() => void} close never throws
 */

/**
 * Makes a transport within `timeout` seconds. Throws ServerUnreachable, UpgradeRefused,
 * ServerRefused, Cancelled.
 * @typedef {(kind: 'websocket' | 'http', options: {timeout: number, signal: AbortSignal}) =>
 *   Promise<Transport>} Connect
 */

/** The address without a trailing slash. @param {string} url */
export function baseUrl(url) {
  return url.replace(/\/+$/, '');
}
