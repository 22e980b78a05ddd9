// All values in a text, in the order of the kinds and without overlap.
import { cards } from './cards.js';
import { dates } from './dates.js';
import { emails } from './emails.js';
import { ibans } from './ibans.js';
import { ids } from './ids.js';
import { foundNames } from './names.js';
import { phones } from './phones.js';
import { streets } from './streets.js';

/** @typedef {import('../kinds.js').Found} Found */
/** @typedef {import('./looked.js').Looked} Looked */

const MOST_ROUNDS = 4;
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
  const look = (/** @type {Looked} */ at) => {
    for (const [kind, finder] of FINDERS) if (kinds.has(kind)) take(finder(at));
  };
  look(looked);
  // What overlaps with an earlier one is none, and the search has gone on behind it: a number that stands there is found
  // once the earlier one is out of sight.
  for (let round = 0, size = 0; round < MOST_ROUNDS && taken.length > size; round++) {
    size = taken.length;
    look(looked.without(taken));
  }
  take(foundNames(looked, names, !kinds.has('given')));
  return taken.sort((a, b) => a.start - b.start);
}
