// Kinds of values (docs/redaction.md), in the order in which they are looked for.

/** @typedef {'email' | 'iban' | 'card' | 'id' | 'phone' | 'date' | 'street' | 'place' | 'given' | 'family'} Kind */
/** @typedef {[start: number, end: number]} Span */
/**
 * Where day, month and year are written, in folded characters; `words`: the number of the list of months that the month
 * is from, null where it is in figures.
 * @typedef {{day: Span, month: Span, year: Span, words: number | null}} DateParts
 */
/**
 * The value `key` of `kind` at the folded characters `start` to `end`; `written`: it as it is spelled there; `rule`: of an
 * id or an address, which one found it; `parts` of a date.
 * @typedef {{kind: Kind, key: string, start: number, end: number, written: string, rule: string, parts: DateParts | null}} Found
 */

/** @type {readonly Kind[]} */
export const KINDS = ['email', 'iban', 'card', 'id', 'phone', 'date', 'street', 'place', 'given', 'family'];
/** Spelled character by character, with gaps. @type {ReadonlySet<string>} */
export const NUMBERS = new Set(['iban', 'card', 'id', 'phone']);
/** Spelled as a whole, as they were first written. @type {ReadonlySet<string>} */
export const TEXTS = new Set(['email', 'street', 'place']);
/** @type {ReadonlySet<string>} */
export const NAMES = new Set(['given', 'family']);

/** What a person switches, and the kinds that it stands for. @type {Readonly<Record<string, readonly Kind[]>>} */
export const GROUPS = {
  names: ['given', 'family'],
  emails: ['email'],
  ibans: ['iban'],
  cards: ['card'],
  ids: ['id'],
  phones: ['phone'],
  addresses: ['street', 'place'],
  dates: ['date'],
};

/** The characters of a key that are replaced, of the kinds that are numbers. @param {string} kind @param {string} key */
export function numberOf(kind, key) {
  return kind === 'phone' ? key.slice(key.lastIndexOf(' ') + 1) : key;
}
