// Surrogates of IBANs, cards, national ids and phones, which nobody has as far as there are such.
import { holds, ibanRemainder, luhn } from '../checks.js';
import { ID_RULES } from '../finding/ids.js';
import { RULES } from '../rules.js';

/** @typedef {import('./draws.js').Draws} Draws */

// For assignment by a national body, of a country code that nobody has (ISO/IEC 7812-1).
const CARD = '9999';
const BANK = 4;

/** Valid, of a bank code that no bank has that we know of. @param {string} key @param {Draws} draws */
export function ibanFor(key, draws) {
  const bank = key.slice(4, 4 + BANK).replace(/./g, (each) => (/[0-9]/.test(each) ? '0' : 'X'));
  const rest = bank + draws.like(key.slice(4 + BANK));
  const check = 98 - ibanRemainder(`${key.slice(0, 2)}00${rest}`);
  return `${key.slice(0, 2)}${String(check).padStart(2, '0')}${rest}`;
}

/** @param {string} key @param {Draws} draws */
export function cardFor(key, draws) {
  const digits = CARD + draws.digits(key.length - CARD.length - 1);
  return digits + Array.from('0123456789').find((last) => luhn(digits + last));
}

/** @param {string} key @param {string} rule @param {Draws} draws @returns {string | null} null where it could be somebody's */
export function idFor(key, rule, draws) {
  const known = ID_RULES.find(({ name }) => name === rule);
  const reserved = known?.reserved ?? '';
  const made = reserved + draws.like(key.slice(reserved.length));
  return known && holds(known, made) ? null : made;
}

/** Of numbers that are reserved for fiction where there are such, else of the same form. @param {string} key @param {Draws} draws */
export function phoneFor(key, draws) {
  const space = key.lastIndexOf(' ');
  const [code, number] = [key.slice(0, space), key.slice(space + 1)];
  const prefixes = fiction(code.replace(/^\++/, ''), number);
  const prefix = prefixes.length ? draws.oneOf(prefixes) : number[0];
  return `${code} ${prefix}${draws.digits(number.length - prefix.length)}`;
}

/** Prefixes of numbers of that length that are reserved, those of the same sort if there are. @param {string} code @param {string} number */
function fiction(code, number) {
  const listed = RULES.fiction.filter((each) => each.code === code && each.length === number.length);
  const same = listed.filter(({ from }) => from && number.startsWith(from));
  return (same.length ? same : listed).map(({ prefix }) => prefix);
}
