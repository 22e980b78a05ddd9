// A redactor that knows a few people, and texts with values that nobody has.
import { Redactor } from '../../src/redaction/redactor.js';

export const SECRET = Uint8Array.from({ length: 32 }, (_, i) => i);
export const ALL = ['names', 'emails', 'ibans', 'cards', 'ids', 'phones', 'addresses'];
export const VALUES = [
  'Anna Schmidt', 'Dr. Zacharias Quuxley', '+49 30 90123456', 'DE89 3704 0044 0532 0130 00', '4111-1111-1111-1111',
  'a.schmidt@firma.de', 'Goethestraße 12', '10115 Berlin',
];
export const SAID = `Dear ${VALUES[0]}, ${VALUES[1]} (${VALUES[2]}) pays ${VALUES[3]} with ${VALUES[4]}; `
  + `write to ${VALUES[5]} or ${VALUES[6]}, ${VALUES[7]}.`;

/** @param {Partial<import('../../src/redaction/redactor.js').Settings>} [settings] */
export function redactor(settings = {}) {
  return new Redactor({ groups: ALL, regions: ['DE'], names: ['Zacharias Quuxley'], ...settings }, SECRET, []);
}

/** What was said with surrogates, and each value beside its own. */
export async function said(text = SAID, known = redactor()) {
  const { text: sent, alignment } = await known.redacted(text);
  const pairs = alignment.pieces.map(({ from, to, at, end }) => /** @type {const} */ ([text.slice(from, to), sent.slice(at, end)]));
  return { known, sent, pairs, alignment };
}

/** Numbers below a bound, the same ones each time. @param {number} seed */
export function draws(seed) {
  let state = seed;
  return (/** @type {number} */ below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}
