/** Fields of a stranger's file. */
import { isRecord } from '../plain.js';

// 2100: times are only shown and sorted by.
const LAST_SECOND = 4_102_444_800;

/** @param {unknown} value @returns {string} '': it is no text */
export function textIn(value) {
  return typeof value === 'string' ? value : '';
}

/** @param {unknown} seconds since 1970 @returns {number | null} milliseconds; null: it is no time */
export function timeIn(seconds) {
  return typeof seconds === 'number' && seconds >= 0 && seconds <= LAST_SECOND ? Math.floor(seconds * 1000) : null;
}

/** @param {unknown} value @returns {string[]} the texts in a list */
export function textsIn(value) {
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : [];
}

/** @param {unknown} value @returns {Record<string, unknown>} empty: it is no object */
export function recordIn(value) {
  return isRecord(value) ? value : {};
}

/** @param {unknown} value @returns {string | null} */
export function idIn(value) {
  return typeof value === 'string' && value.length <= 200 ? value : null;
}
