// Sets of code points as sorted ranges, with the general categories of one fixed Unicode version.
import { CATEGORIES, CODES, RUNS } from './categories.js';

/** @typedef {[number, number]} Range first and last code point */

const LAST = 0x10ffff;

/** @type {Map<string, Range[]> | null} */
let byCategory = null;

/**
 * Code points of one category ('Lu') or of a whole class ('L').
 * @param {string} name
 * @returns {Range[] | null} null: no such category
 */
export function category(name) {
  byCategory ??= readRuns();
  const parts = [...byCategory].filter(([full]) => full === name || full[0] === name);
  return parts.length ? union(parts.map(([, ranges]) => ranges)) : null;
}

/** White_Space of Unicode, which JavaScript's \s is not: it lacks U+0085 and has U+FEFF. */
/** @type {Range[]} */
export const WHITE_SPACE = [
  [0x09, 0x0d],
  [0x20, 0x20],
  [0x85, 0x85],
  [0xa0, 0xa0],
  [0x1680, 0x1680],
  [0x2000, 0x200a],
  [0x2028, 0x2029],
  [0x202f, 0x202f],
  [0x205f, 0x205f],
  [0x3000, 0x3000],
];

// Alphabetic code points beyond letters, and the joiners (UTS #18, annex C).
/** @type {Range[]} */
const OTHER_WORD = [
  [0x200c, 0x200d],
  [0x24b6, 0x24e9],
  [0x1f130, 0x1f149],
  [0x1f150, 0x1f169],
  [0x1f170, 0x1f189],
];

/** \w of UTS #18, as Rust's regular expressions have it. @returns {Range[]} */
export function wordCharacters() {
  return union([...['L', 'M', 'Nd', 'Nl', 'Pc'].map((name) => category(name) ?? []), OTHER_WORD]);
}

// Rust's standard library knows a newer Unicode than the regular expressions of `tokenizers`.
/** @type {Range[]} */
const NEWER_NUMERIC = [
  [0x11de0, 0x11de9],
  [0x16ff4, 0x16ff6],
];

/** char::is_numeric of Rust. @returns {Range[]} */
export function numericCharacters() {
  return union([category('N') ?? [], NEWER_NUMERIC]);
}

/** @param {Range[][]} sets @returns {Range[]} */
export function union(sets) {
  const sorted = sets.flat().sort((a, b) => a[0] - b[0]);
  /** @type {Range[]} */
  const merged = [];
  for (const [low, high] of sorted) {
    const last = merged.at(-1);
    if (last && low <= last[1] + 1) last[1] = Math.max(last[1], high);
    else merged.push([low, high]);
  }
  return merged;
}

/** @param {Range[]} ranges sorted, disjoint @returns {Range[]} */
export function complement(ranges) {
  /** @type {Range[]} */
  const gaps = [];
  let next = 0;
  for (const [low, high] of ranges) {
    if (low > next) gaps.push([next, low - 1]);
    next = high + 1;
  }
  if (next <= LAST) gaps.push([next, LAST]);
  return gaps;
}

/** The set as a class of a regular expression with the flag u. @param {Range[]} ranges */
export function classSource(ranges) {
  const escape = (/** @type {number} */ code) => `\\u{${code.toString(16)}}`;
  const parts = ranges.map(([low, high]) => (low === high ? escape(low) : `${escape(low)}-${escape(high)}`));
  return `[${parts.join('')}]`;
}

/** @returns {Map<string, Range[]>} */
function readRuns() {
  /** @type {Map<string, Range[]>} */
  const found = new Map(CATEGORIES.map((name) => [name, []]));
  let start = 0;
  for (const [, code, length] of RUNS.matchAll(/([A-Z!#$%])([0-9a-z]*)/g)) {
    const next = start + (length ? parseInt(length, 36) : 1);
    found.get(CATEGORIES[CODES.indexOf(code)])?.push([start, next - 1]);
    start = next;
  }
  return found;
}
