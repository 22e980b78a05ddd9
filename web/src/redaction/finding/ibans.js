// IBANs (ISO 13616): a country that has them, its length, and check digits that are right.
import { isIban } from '../checks.js';
import { RULES } from '../rules.js';
import { gapOf } from '../squeezed.js';

/** @type {Readonly<Record<string, number>>} */
const LENGTHS = RULES.iban;

/** @param {import('./looked.js').Looked} looked @returns {Generator<import('../kinds.js').Found>} */
export function* ibans(looked) {
  const { squeezed } = looked;
  const { characters, at } = squeezed;
  const begins = /[A-Z]{2}[0-9]{2}/g;
  for (let match; (match = begins.exec(characters)); ) {
    const first = match.index;
    begins.lastIndex = first + 1;
    const end = first + (LENGTHS[match[0].slice(0, 2)] ?? 0);
    if (end <= first || end > characters.length) continue;
    const key = characters.slice(first, end);
    // "IBANDE89…" is one as well.
    if (squeezed.followsDigit(first) || squeezed.precedesDigit(end) || !squeezed.together(first, end, gapOf('iban')) || !isIban(key)) continue;
    yield looked.found('iban', key, at[first], at[end - 1] + 1);
    begins.lastIndex = end;
  }
}
