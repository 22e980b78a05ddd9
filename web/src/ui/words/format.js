import { language, t, tn } from './languages/words.js';

// Numbers as people read them. Sizes are decimal, as phones and browsers show them.

// More of anything than a reply has: tokens, seconds, tokens in one.
const MOST_FIGURE = 1e9;
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
  return `${decimal(value, digits)} ${UNITS[unit]}`;
}

/** @param {number} value @returns {string} with its thousands parted */
export function number(value) {
  return value.toLocaleString(language());
}

/** @param {number} value @param {number} digits behind the point @returns {string} */
export function decimal(value, digits) {
  const how = { minimumFractionDigits: digits, maximumFractionDigits: digits, useGrouping: false };
  return value.toLocaleString(language(), how);
}

/** @param {number} count @param {'token' | 'part' | 'layer' | 'worker' | 'round trip'} thing @returns {string} */
export function counted(count, thing) {
  switch (thing) {
    case 'token':
      return tn(count, '{n} token', '{n} tokens');
    case 'part':
      return tn(count, '{n} part', '{n} parts');
    case 'layer':
      return tn(count, '{n} layer', '{n} layers');
    case 'worker':
      return tn(count, '{n} worker', '{n} workers');
    case 'round trip':
      return tn(count, '{n} round trip', '{n} round trips');
  }
}

/** Whether a number may be one that a reply tells of itself; what is imported may be anybody's. @param {unknown} value @returns {value is number} */
export function isFigure(value) {
  return typeof value === 'number' && value >= 0 && value <= MOST_FIGURE;
}

/**
 * How much of a prompt did not have to be sent, where the server had kept a part of it; with a sign before it where
 * that is not what computing gives.
 * @param {Record<string, unknown>} stats of a reply, which may be anybody's
 * @returns {string} '': nothing to tell
 */
export function tokensThere({ promptTokens: all, promptSent: sent, promptRestored: restored, promptApproximate: off }) {
  if (!isCount(all) || !isCount(sent) || !isCount(restored)) return '';
  const near = isCount(off) && off > 0;
  if (!((restored > 0 || near) && sent > 0 && sent < all)) return '';
  return t('{n} of {all} were there', { n: `${near ? '≈' : ''}${number(all - sent)}`, all: counted(all, 'token') });
}

/**
 * How many waits for the server a reply took, and how many of its tokens needed none.
 * @param {Record<string, unknown>} stats of a reply, which may be anybody's
 * @returns {string} '': each token had its own
 */
export function tripsTaken({ roundTrips: trips, drafted, accepted, forced }) {
  if (![trips, drafted, accepted, forced].every(isCount) || Number(accepted) > Number(drafted)) return '';
  const parts = [];
  if (Number(drafted) > 0) {
    const right = number(Number(accepted));
    parts.push(tn(Number(drafted), '{right} of {n} draft right', '{right} of {n} drafts right', { right }));
  }
  if (Number(forced) > 0) parts.push(t('{n} forced', { n: number(Number(forced)) }));
  return parts.length ? [counted(Number(trips), 'round trip'), ...parts].join(', ') : '';
}

/** @param {unknown} value @returns {value is number} */
function isCount(value) {
  return isFigure(value) && Number.isInteger(value);
}

/** @param {number} seconds @returns {string} to the first meaningful unit */
export function duration(seconds) {
  if (seconds < 1) return `${Math.round(seconds * 1000)} ms`;
  if (seconds < 10) return `${decimal(seconds, 1)} s`;
  if (seconds < 100) return `${Math.round(seconds)} s`;
  if (seconds < 100 * 60) return `${Math.round(seconds / 60)} min`;
  return `${Math.round(seconds / 3600)} h`;
}

/** @param {number} tokensPerSecond @returns {string} */
export function rate(tokensPerSecond) {
  const digits = tokensPerSecond < 9.95 ? 1 : 0;
  return `${decimal(tokensPerSecond, digits)} tok/s`;
}

/** @param {number} milliseconds @param {number} now @returns {string} when a chat was last used */
export function ago(milliseconds, now) {
  const minutes = Math.floor((now - milliseconds) / 60000);
  if (minutes < 1) return t('just now');
  if (minutes < 60) return t('{n} min ago', { n: minutes });
  if (minutes < 24 * 60) return t('{n} h ago', { n: Math.floor(minutes / 60) });
  if (minutes < 7 * 24 * 60) return tn(Math.floor(minutes / 1440), '{n} day ago', '{n} days ago');
  return new Date(milliseconds).toISOString().slice(0, 10);
}
