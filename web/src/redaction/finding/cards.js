// Numbers of payment cards (ISO/IEC 7812): 13 to 19 digits that are valid by Luhn.
import { luhn } from '../checks.js';
import { sequences } from './sequences.js';

/** @typedef {import('./sequences.js').Group} Group */

const LENGTHS = [19, 18, 17, 16, 15, 14, 13];

/** @param {import('./looked.js').Looked} looked @returns {Generator<import('../kinds.js').Found>} */
export function* cards(looked) {
  if (!/[0-9]{13}/.test(looked.squeezed.characters)) return;
  for (const groups of sequences(looked.text, 'gap')) {
    if (groups.reduce((sum, { digits }) => sum + digits.length, 0) < 13) continue;
    for (const [start, end] of spansIn(looked.text, groups)) {
      const key = groups.slice(start, end).map(({ digits }) => digits).join('');
      yield looked.found('card', key, groups[start].start, groups[end - 1].end);
    }
  }
}

/**
 * First group and last+1 of each card. Digits before one may make another number valid by chance: the usual length counts
 * first, and of those gaps that are the same.
 * @param {string} text @param {Group[]} groups @returns {[number, number][]}
 */
function spansIn(text, groups) {
  /** @type {[number, number][]} */
  const taken = [];
  const free = Array(groups.length).fill(true);
  for (const [usually, even] of [[true, true], [true, false], [false, false]]) {
    for (let at = 0; at < groups.length; at++) {
      const end = free[at] ? endOf(groups, at, usually) : null;
      if (end === null || free.slice(at, end).includes(false) || (even && !isEven(text, groups.slice(at, end)))) continue;
      free.fill(false, at, end);
      taken.push([at, end]);
    }
  }
  return taken.sort(([a], [b]) => a - b);
}

/** Behind the last group of a card that begins at `at`. @param {Group[]} groups @param {number} at @param {boolean} usually @returns {number | null} */
function endOf(groups, at, usually) {
  if (!/^[2-6]/.test(groups[at].digits)) return null;
  let digits = '';
  /** @type {Map<number, number>} */
  const ends = new Map();
  for (let index = at; index < groups.length; index++) {
    digits += groups[index].digits;
    if (digits.length > LENGTHS[0]) break;
    ends.set(digits.length, index + 1);
  }
  const length = (usually ? [usual(digits)] : LENGTHS).find((each) => ends.has(each) && luhn(digits.slice(0, each)));
  return length === undefined ? null : /** @type {number} */ (ends.get(length));
}

/** @param {string} text @param {Group[]} groups */
function isEven(text, groups) {
  const between = groups.slice(1).map(({ start }, at) => text.slice(groups[at].end, start).replaceAll('\n', ' '));
  return new Set(between).size < 2;
}

/** @param {string} digits */
function usual(digits) {
  if (/^3[47]/.test(digits)) return 15;
  return /^3(?:[689]|0[0-5])/.test(digits) ? 14 : 16;
}
