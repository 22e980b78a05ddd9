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
    for (let at = 0; at < groups.length; ) {
      const end = endOf(groups, at);
      if (end === null) {
        at += 1;
        continue;
      }
      const key = groups.slice(at, end).map(({ digits }) => digits).join('');
      yield looked.found('card', key, groups[at].start, groups[end - 1].end);
      at = end;
    }
  }
}

/** Behind the last group of a card that begins at `at`. @param {Group[]} groups @param {number} at @returns {number | null} */
function endOf(groups, at) {
  if (!/^[2-6]/.test(groups[at].digits)) return null;
  let digits = '';
  /** @type {Map<number, number>} */
  const ends = new Map();
  for (let index = at; index < groups.length; index++) {
    digits += groups[index].digits;
    if (digits.length > LENGTHS[0]) break;
    ends.set(digits.length, index + 1);
  }
  const length = [usual(digits), ...LENGTHS].find((each) => ends.has(each) && luhn(digits.slice(0, each)));
  return length === undefined ? null : /** @type {number} */ (ends.get(length));
}

/** @param {string} digits */
function usual(digits) {
  if (/^3[47]/.test(digits)) return 15;
  return /^3(?:[689]|0[0-5])/.test(digits) ? 14 : 16;
}
