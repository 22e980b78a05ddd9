// What may stand behind a backslash in a regular expression.
import { FormInvalid } from '../errors.js';
import { others, tidy } from './characters.js';

/** @typedef {import('./characters.js').Range} Range */

/** Every character. @type {Range[]} */
export const ANY = [[0, 0x10ffff]];
/** @type {Range[]} */
const DIGITS = [[48, 57]];
/** @type {Range[]} */
const WORDS = [[48, 57], [65, 90], [95, 95], [97, 122]];
/** @type {Range[]} */
const SPACES = [
  [9, 13], [32, 32], [0xa0, 0xa0], [0x1680, 0x1680], [0x2000, 0x200a], [0x2028, 0x2029], [0x202f, 0x202f],
  [0x205f, 0x205f], [0x3000, 0x3000],
];
/** @type {Record<string, Range[]>} */
const CLASSES = { d: DIGITS, w: WORDS, s: SPACES, D: others(DIGITS), W: others(WORDS), S: others(SPACES) };
/** @type {Record<string, number>} */
const CONTROLS = { t: 9, n: 10, v: 11, f: 12, r: 13 };
const PROPERTY = /^[pP](?:\{([A-Za-z_=]{1,40})\}|([A-Z]))/;
const LAST = 0x10ffff;

/** @param {string} rest behind the backslash */
export function isClassEscape(rest) {
  return rest[0] in CLASSES || PROPERTY.test(rest);
}

/** @param {string} rest behind the backslash @returns {{ranges: Range[], length: number}} */
export function escapedClass(rest) {
  if (rest[0] in CLASSES) return { ranges: CLASSES[rest[0]], length: 1 };
  const [whole, long, short] = /** @type {RegExpExecArray} */ (PROPERTY.exec(rest));
  const ranges = charactersOf(long ?? short);
  return { ranges: whole[0] === 'P' ? others(ranges) : ranges, length: whole.length };
}

/**
 * @param {string} rest behind the backslash @param {boolean} inClass
 * @returns {{code: number, length: number}} throws FormInvalid
 */
export function escapedCode(rest, inClass) {
  const [first] = rest;
  if (first in CONTROLS) return { code: CONTROLS[first], length: 1 };
  const hex = /^(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|[xu]\{([0-9a-fA-F]{1,6})\})/.exec(rest);
  if (hex) {
    const code = parseInt(hex[1] ?? hex[2] ?? hex[3], 16);
    if (code > LAST) throw refused('a character beyond U+10FFFF');
    return { code, length: hex[0].length };
  }
  if (/^0(?!\d)/.test(rest)) return { code: 0, length: 1 };
  if (/^[1-9k]/.test(rest)) throw refused('a reference to a group');
  if (/^[bB]/.test(rest) && !inClass) throw refused('a word boundary');
  if (!/^[^\p{L}\p{N}\s]/u.test(rest)) throw refused(`'\\${first ?? ''}'`);
  return { code: first.charCodeAt(0), length: 1 };
}

/** @type {Map<string, Range[]>} */
const known = new Map();

/** @param {string} property of Unicode @returns {Range[]} */
function charactersOf(property) {
  let ranges = known.get(property);
  if (!ranges) {
    let pattern;
    try {
      pattern = new RegExp(`\\p{${property}}`, 'u');
    } catch {
      throw refused(`the unknown property \\p{${property}}`);
    }
    /** @type {Range[]} */
    const found = [];
    for (let code = 0; code <= LAST; code++) {
      if (code === 0xd800) code = 0xe000;
      if (pattern.test(String.fromCodePoint(code))) found.push([code, code]);
    }
    ranges = tidy(found);
    known.set(property, ranges);
  }
  return ranges;
}

/** @param {string} what */
function refused(what) {
  return new FormInvalid(`a regex with ${what}`, { code: 'form_invalid' });
}
