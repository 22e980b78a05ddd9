// All values in a text, in the order of the kinds and without overlap.
import { cards } from './cards.js';
import { dates } from './dates.js';
import { emails } from './emails.js';
import { ibans } from './ibans.js';
import { ids } from './ids.js';
import { foundNames } from './names.js';
import { phones } from './phones.js';
import { streets } from './streets.js';
import { NUMBERS } from '../kinds.js';

/** @typedef {import('../kinds.js').Found} Found */
/** @typedef {import('./looked.js').Looked} Looked */

/** @type {readonly (readonly [string, (looked: Looked) => Iterable<Found>])[]} */
const FINDERS = [
  ['email', emails], ['iban', ibans], ['card', cards], ['id', ids], ['phone', phones], ['date', dates], ['street', streets],
];

/**
 * From left to right.
 * @param {Looked} looked @param {ReadonlySet<string>} kinds @param {Iterable<Found>} known what is found already
 * @param {import('./names.js').KnownNames} names
 * @returns {Found[]}
 */
export function find(looked, kinds, known, names) {
  /** @type {Found[]} */
  const taken = [];
  const covered = new Uint8Array(looked.text.length);
  const take = (/** @type {Iterable<Found>} */ all) => {
    for (const found of all) {
      if (covered.subarray(found.start, found.end).some(Boolean)) continue;
      covered.fill(1, found.start, found.end);
      taken.push(found);
    }
  };
  take(known);
  for (const [kind, finder] of FINDERS) {
    // A number is none of another one, and does not go on in it.
    if (kinds.has(kind)) take(finder(NUMBERS.has(kind) ? looked.without(taken) : looked));
  }
  take(foundNames(looked, names, !kinds.has('given')));
  return taken.sort((a, b) => a.start - b.start);
}
