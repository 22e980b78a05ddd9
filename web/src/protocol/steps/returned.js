// Which hidden states of a step travel back: the last one, all, or the last so many.
import { MalformedMessage } from '../errors.js';

/** The capability of a server that returns the last so many; without it a step asks for one or for all. */
export const ROWS = 'rows';
/** Rows with which a step still is interactive, where a server does not say. */
export const INTERACTIVE_ROWS = 16;

/** @typedef {'last' | 'all' | number} Rows */

/**
 * How many states a step of `sent` rows brings back.
 * @param {Rows} rows @param {number} sent
 */
export function returned(rows, sent) {
  if (rows === 'last') return 1;
  return rows === 'all' ? sent : rows;
}

/**
 * Whether `value` is a number of rows that a step of `sent` may ask for.
 * @param {unknown} value @param {number} sent
 * @returns {value is number}
 */
export function counted(value, sent) {
  return typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= sent;
}

/**
 * The field `rows` of a step of `sent` rows; missing is 'last'.
 * @param {unknown} value @param {number} sent
 * @returns {Rows}
 * @throws {MalformedMessage}
 */
export function rowsAsked(value, sent) {
  if (value === null || value === 'last') return 'last';
  if (value === 'all') return 'all';
  if (!counted(value, sent)) {
    throw new MalformedMessage("'rows' must be 'last', 'all' or 1 to as many as the step has");
  }
  return value;
}

/**
 * What a step of `sent` rows asks for to bring `wanted` states: every server knows the last and all.
 * @param {number} wanted @param {number} sent
 * @returns {Rows}
 */
export function rowsFor(wanted, sent) {
  if (wanted === 1) return 'last';
  return wanted === sent ? 'all' : wanted;
}
