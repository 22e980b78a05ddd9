/** JSON values of bounded size, copied key by key: what may be kept of a stranger's document. */

/** @typedef {import('./types').Plain} Plain */

const MOST_VALUES = 4096;
const DEEPEST = 4;
const LONGEST_TEXT = 4096;
// What an assignment to a plain object would take for its prototype, and what stands on it.
const REFUSED = new Set(['__proto__', 'constructor', 'prototype']);

/**
 * A copy of an object of numbers, texts, lists and the like; null where it is anything else.
 * @param {unknown} value
 * @returns {Record<string, Plain>|null}
 */
export function plainRecord(value) {
  if (!isRecord(value)) return null;
  const left = { values: MOST_VALUES };
  const copy = copied(value, DEEPEST, left);
  return copy === undefined ? null : /** @type {Record<string, Plain>} */ (copy);
}

/** @param {unknown} value @returns {value is Record<string, unknown>} */
export function isRecord(value) {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** undefined: not plain. @param {unknown} value @param {number} depth @param {{values: number}} left
 * @returns {Plain|undefined} */
function copied(value, depth, left) {
  if (--left.values < 0) return undefined;
  if (value === null || typeof value === 'boolean') return value;
  if (typeof value === 'number') return Number.isFinite(value) ? value : undefined;
  if (typeof value === 'string') return value.length <= LONGEST_TEXT ? value : undefined;
  if (typeof value !== 'object' || depth === 0) return undefined;
  return Array.isArray(value) ? copiedList(value, depth, left) : copiedRecord(value, depth, left);
}

/** @param {unknown[]} list @param {number} depth @param {{values: number}} left */
function copiedList(list, depth, left) {
  /** @type {Plain[]} */
  const copies = [];
  for (const item of list) {
    const copy = copied(item, depth - 1, left);
    if (copy === undefined) return undefined;
    copies.push(copy);
  }
  return copies;
}

/** @param {object} record @param {number} depth @param {{values: number}} left */
function copiedRecord(record, depth, left) {
  /** @type {[string, Plain][]} */
  const pairs = [];
  for (const [key, item] of Object.entries(record)) {
    const copy = REFUSED.has(key) || key.length > 64 ? undefined : copied(item, depth - 1, left);
    if (copy === undefined) return undefined;
    pairs.push([key, copy]);
  }
  return Object.fromEntries(pairs);
}
