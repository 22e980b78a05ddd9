// A JSON value as replies write it.
import { KEYWORDS } from './keywords.js';

export const { item: ITEM, key: KEY } = KEYWORDS.separators;

/** @param {unknown} value @returns {string} */
export function written(value) {
  if (Array.isArray(value)) return `[${value.map(written).join(ITEM)}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const pairs = Object.entries(value).map(([name, part]) => JSON.stringify(name) + KEY + written(part));
  return `{${pairs.join(ITEM)}}`;
}
