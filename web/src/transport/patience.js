// The patience of a channel: how long it waits for what.

/**
 * Seconds. `total` bounds the time from the first loss of a frame to giving up.
 * @typedef {object} Patience
 * @property {number} connect one HTTP attempt, or a WebSocket where nothing else is allowed
 * @property {number} upgrade a WebSocket where HTTP is the other way
 * @property {number} exchange one answer
 * @property {number} quiet silence after which a connection is replaced, twice as long each time; a
 *   long frame is given more, see quietFor
 * @property {number} probe the pong of a connection that may have died while the device slept
 * @property {number} total
 * @property {number} firstDelay
 * @property {number} longestDelay
 */

/** @type {Readonly<Patience>} */
export const PATIENCE = Object.freeze({
  connect: 10,
  upgrade: 4,
  exchange: 300,
  quiet: 10,
  probe: 3,
  total: 120,
  firstDelay: 0.1,
  longestDelay: 5,
});

// Bytes a second of a slow uplink; a server needs longer for a long frame, too.
const SLOW = 32_000;

/**
 * How long nothing may come after a frame of `size` bytes before its connection is replaced.
 * @param {Patience} patience
 * @param {number} size
 * @returns {number} seconds
 */
export function quietFor({ quiet }, size) {
  return quiet + size / SLOW;
}

/**
 * Exponential, with half of it random so that clients do not come back all at once.
 * @param {Patience} patience
 * @param {number} attempt from 0
 * @param {number} chance 0 to 1
 * @returns {number} seconds
 */
export function delayOf({ firstDelay, longestDelay }, attempt, chance) {
  return Math.min(longestDelay, firstDelay * 2 ** Math.min(attempt, 30)) * (0.5 + chance / 2);
}
