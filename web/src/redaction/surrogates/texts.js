// Surrogates of e-mail and postal addresses, dates and names.
import { GIVEN } from '../name_lists.js';
import { RULES } from '../rules.js';

/** @typedef {import('./draws.js').Draws} Draws */

// Attempts at names from lists; beyond them names are made of syllables.
const LISTED = 64;
const [CONSONANTS, VOWELS] = ['bdfgklmnprstvz', 'aeiou'];

/** At a domain that RFC 2606 reserves. @param {Draws} draws */
export function emailFor(draws) {
  const word = draws.oneOf(RULES.mail);
  const digits = draws.digits(4);
  return `${word}${digits}@${draws.oneOf(RULES.domains)}`;
}

/** Of the same number of digits when it is written without zeros. @param {string} key @param {Draws} draws */
export function dateFor(key, draws) {
  const [year, month, day] = key.split('-').map(Number);
  const made = Math.min(2029, Math.max(1900, year + draws.below(9) - 4));
  const [m, d] = [draws.oneOf(month < 10 ? from(1, 9) : from(10, 12)), draws.oneOf(day < 10 ? from(1, 9) : from(10, 28))];
  return [String(made).padStart(4, '0'), ...[m, d].map((each) => String(each).padStart(2, '0'))].join('-');
}

/** @param {number} first @param {number} last */
function from(first, last) {
  return Array.from({ length: last - first + 1 }, (_, i) => first + i);
}

/** @param {string} key @param {string} rule @param {Draws} draws */
export function streetFor(key, rule, draws) {
  const { surrogates, form } = RULES.streets.find(({ name }) => name === rule) ?? RULES.streets[0];
  const count = key.replace(/[^0-9]/g, '').length;
  const street = draws.oneOf(surrogates);
  const number = String(1 + draws.below(9)) + draws.digits(Math.min(count, 5) - 1);
  return form.replace('{street}', street).replace('{number}', number);
}

/** @param {string} rule @param {Draws} draws */
export function placeFor(rule, draws) {
  const { surrogates, form } = RULES.places.find(({ name }) => name === rule) ?? RULES.places[0];
  const place = draws.oneOf(surrogates);
  return Array.from(form, (each) => (each === '9' ? draws.digits(1) : each)).join('').replace('{place}', place);
}

/** @param {string} kind given or family @param {string} key @param {number} attempt @param {Draws} draws */
export function nameFor(kind, key, attempt, draws) {
  if (attempt >= LISTED) {
    let made = '';
    for (let i = 0; i < 3; i++) made += draws.oneOf(CONSONANTS) + draws.oneOf(VOWELS);
    return `${made[0].toUpperCase()}${made.slice(1)}n`;
  }
  if (kind === 'family') return draws.oneOf(RULES.surrogates.family);
  const known = GIVEN.get(key) ?? 'n';
  const sex = /** @type {'f' | 'm'} */ (known === 'n' ? draws.oneOf('fm') : known);
  return draws.oneOf(RULES.surrogates[sex]);
}
