// Characters as bytes: of plain text, and of the inside of a JSON string.
import { range } from './byte_set.js';

const encoder = new TextEncoder();

/** @typedef {import('./expressions.js').Expression} Expression */
/** @typedef {[number, number]} Range code points, inclusive */
/** @typedef {(ranges: Range[]) => Expression} Writing how one character of some is written */

const LAST = 0x10ffff;
/** Of UTF-8, by the number of bytes. */
const LENGTHS = [0x7f, 0x7ff, 0xffff, LAST];
/** @type {Range} */
const SURROGATES = [0xd800, 0xdfff];
/** @type {Record<number, string>} */
const SHORT = { 8: '\\b', 9: '\\t', 10: '\\n', 12: '\\f', 13: '\\r', 34: '\\"', 92: '\\\\' };

/** @param {Range[]} ranges @returns {Range[]} rising, apart from each other */
export function tidy(ranges) {
  /** @type {Range[]} */
  const found = [];
  for (const [low, high] of [...ranges].sort((a, b) => a[0] - b[0])) {
    const last = found.at(-1);
    if (last && low <= last[1] + 1) last[1] = Math.max(last[1], high);
    else found.push([low, high]);
  }
  return found;
}

/** Every other character. @param {Range[]} ranges @returns {Range[]} */
export function others(ranges) {
  /** @type {Range[]} */
  const found = [];
  let next = 0;
  for (const [low, high] of [...tidy(ranges), /** @type {Range} */ ([LAST + 1, LAST + 1])]) {
    if (low > next) found.push([next, low - 1]);
    next = high + 1;
  }
  return found;
}

/** In UTF-8. @param {import('./expressions.js').Expressions} expressions @returns {Writing} */
export function plainly(expressions) {
  return (ranges) => {
    const clean = others([...others(ranges), SURROGATES]);
    return expressions.alt(clean.flatMap(([low, high]) => split(expressions, low, high)));
  };
}

/**
 * Inside a JSON string, each in one way: as itself where that is allowed, else by its shortest escape.
 * @param {import('./expressions.js').Expressions} expressions @returns {Writing}
 */
export function inJson(expressions) {
  const plain = plainly(expressions);
  /** @type {Range[]} */
  const mustEscape = [[0, 31], [34, 34], [92, 92]];
  return (ranges) => {
    const raw = plain(others([...others(ranges), ...mustEscape]));
    const has = (/** @type {number} */ code) => ranges.some(([low, high]) => low <= code && code <= high);
    const codes = mustEscape.flatMap(([low, high]) => Array.from({ length: high - low + 1 }, (_, at) => low + at));
    return expressions.alt([raw, ...codes.filter(has).map((code) => expressions.text(escaped(code)))]);
  };
}

/** A text as bytes, one UTF-16 unit each. @param {string} text */
export function bytesOfText(text) {
  return Array.from(encoder.encode(text), (byte) => String.fromCharCode(byte)).join('');
}

/** @param {number} code */
function escaped(code) {
  return SHORT[code] ?? `\\u${code.toString(16).padStart(4, '0')}`;
}

/**
 * @param {import('./expressions.js').Expressions} expressions @param {number} low @param {number} high
 * @returns {Expression[]}
 */
function split(expressions, low, high) {
  /** @type {Expression[]} */
  const parts = [];
  let from = low;
  LENGTHS.forEach((last, more) => {
    if (from > last || from > high) return;
    parts.push(...sequences(expressions, from, Math.min(high, last), more));
    from = last + 1;
  });
  return parts;
}

/**
 * Code points of one length: where they differ in their first byte, the ends apart from the middle, whose other
 * bytes are free.
 * @param {import('./expressions.js').Expressions} expressions @param {number} low @param {number} high
 * @param {number} more bytes after this one @param {boolean} [first]
 * @returns {Expression[]}
 */
function sequences(expressions, low, high, more, first = true) {
  const mark = first ? [0, 0xc0, 0xe0, 0xf0][more] : 0x80;
  const lead = (/** @type {number} */ code) => code >> (6 * more);
  if (more === 0) return [expressions.bytes(range(mark + low, mark + high))];
  const size = 1 << (6 * more);
  const rest = (/** @type {number} */ from, /** @type {number} */ to) =>
    expressions.alt(sequences(expressions, from % size, to % size, more - 1, false));
  const found = [];
  for (let from = low; from <= high;) {
    const whole = from % size === 0 && from + size - 1 <= high;
    const leads = whole ? lead(high - size + 1) : lead(from);
    const to = whole ? (leads + 1) * size - 1 : Math.min(high, (leads + 1) * size - 1);
    const byte = expressions.bytes(range(mark + lead(from), mark + leads));
    found.push(expressions.cat(byte, whole ? rest(0, size - 1) : rest(from, to)));
    from = to + 1;
  }
  return found;
}

