// Numbers as people read them. Sizes are decimal, as phones and browsers show them.

const UNITS = ['B', 'kB', 'MB', 'GB', 'TB'];

/** @param {number} bytes @returns {string} */
export function size(bytes) {
  let value = Math.max(0, bytes);
  let unit = 0;
  while (value >= 999.5 && unit < UNITS.length - 1) {
    value /= 1000;
    unit += 1;
  }
  const digits = unit === 0 || value >= 99.5 ? 0 : 1;
  return `${value.toFixed(digits)} ${UNITS[unit]}`;
}

/** @param {number} count @param {string} word of one thing @returns {string} */
export function counted(count, word) {
  return `${count.toLocaleString('en')} ${word}${count === 1 ? '' : 's'}`;
}

/**
 * How much of a prompt did not have to be sent, where the server had kept a part of it; with a sign before it where
 * that is not what computing gives.
 * @param {Record<string, unknown>} stats of a reply, which may be anybody's
 * @returns {string} '': nothing to tell
 */
export function tokensThere({ promptTokens: all, promptSent: sent, promptRestored: restored, promptApproximate: off }) {
  if (typeof all !== 'number' || typeof sent !== 'number' || typeof restored !== 'number') return '';
  const near = typeof off === 'number' && off > 0;
  if (!((restored > 0 || near) && sent > 0 && sent < all)) return '';
  return `${near ? '≈' : ''}${(all - sent).toLocaleString('en')} of ${counted(all, 'token')} were there`;
}

/**
 * How many waits for the server a reply took, and how many of its tokens needed none.
 * @param {Record<string, unknown>} stats of a reply, which may be anybody's
 * @returns {string} '': each token had its own
 */
export function tripsTaken({ roundTrips: trips, drafted, accepted, forced }) {
  if (![trips, drafted, accepted, forced].every((count) => Number.isSafeInteger(count) && Number(count) >= 0)) return '';
  const parts = [];
  if (Number(drafted) > 0) parts.push(`${Number(accepted).toLocaleString('en')} of ${counted(Number(drafted), 'draft')} right`);
  if (Number(forced) > 0) parts.push(`${Number(forced).toLocaleString('en')} forced`);
  return parts.length ? [counted(Number(trips), 'round trip'), ...parts].join(', ') : '';
}

/** @param {number} seconds @returns {string} to the first meaningful unit */
export function duration(seconds) {
  if (seconds < 1) return `${Math.round(seconds * 1000)} ms`;
  if (seconds < 10) return `${seconds.toFixed(1)} s`;
  if (seconds < 100) return `${Math.round(seconds)} s`;
  if (seconds < 100 * 60) return `${Math.round(seconds / 60)} min`;
  return `${Math.round(seconds / 3600)} h`;
}

/** @param {number} tokensPerSecond @returns {string} */
export function rate(tokensPerSecond) {
  const digits = tokensPerSecond < 9.95 ? 1 : 0;
  return `${tokensPerSecond.toFixed(digits)} tok/s`;
}

/** @param {number} milliseconds @param {number} now @returns {string} when a chat was last used */
export function ago(milliseconds, now) {
  const minutes = Math.floor((now - milliseconds) / 60000);
  if (minutes < 1) return 'just now';
  if (minutes < 60) return `${minutes} min ago`;
  if (minutes < 24 * 60) return `${Math.floor(minutes / 60)} h ago`;
  if (minutes < 7 * 24 * 60) return counted(Math.floor(minutes / 1440), 'day') + ' ago';
  return new Date(milliseconds).toISOString().slice(0, 10);
}
