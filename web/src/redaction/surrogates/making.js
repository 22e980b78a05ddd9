// Attempts at a surrogate, until one is found that nothing can be mistaken for.
import { RedactionExhausted } from '../errors.js';
import { folded } from '../folding.js';
import { NAMES, NUMBERS, numberOf } from '../kinds.js';
import { respelled } from '../spelling.js';
import { Squeezed } from '../squeezed.js';
import { Draws } from './draws.js';
import { cardFor, ibanFor, idFor, phoneFor } from './numbers.js';
import { dateFor, emailFor, nameFor, placeFor, streetFor } from './texts.js';

/** @typedef {import('../kinds.js').Found} Found */
/** @typedef {import('../finding/looked.js').Looked} Looked */
/** Of each text. @typedef {(texts: string[]) => Promise<number[]>} CountTokens */
/**
 * What a surrogate must not be mistaken for. `numbers` and `texts`: those of the chat, letters and digits alone in capitals,
 * and folded in small letters; the others: keys of values and surrogates of its map.
 * @typedef {{numbers: string[], texts: string[], ofNumbers: Set<string>, ofNames: Set<string>, ofTexts: Set<string>}} Spoken
 */

export const MOST_ATTEMPTS = 256;
const COUNTED = 64;
// Mostly one of the first has as many tokens; each question costs a way to a worker.
const AT_ONCE = 8;

/** The two forms of a text of the chat. @param {string} text @returns {[numbers: string, text: string]} */
export function spokenIn(text) {
  const own = folded(text);
  return [new Squeezed(own.text).characters, own.lower];
}

/**
 * For a value that is found in a text, of as many tokens if that can be had.
 * @param {Uint8Array} secret @param {Found} found @param {Looked} looked @param {Spoken} spoken @param {CountTokens} count
 * @returns {Promise<string>} throws RedactionExhausted
 */
export async function surrogateFor(secret, found, looked, spoken, count) {
  const made = [];
  let later = null;
  for (const [attempt, each] of attempts(secret, found, spoken)) {
    if (attempt < COUNTED) made.push(each);
    else later = each;
    if (later !== null || (found.kind === 'date' && made.length)) break;
    if (made.length % AT_ONCE) continue;
    const fits = await sameLength(found, looked, made.slice(-AT_ONCE), count);
    if (fits.off === 0) return fits.made;
  }
  if (!made.length && later === null) throw new RedactionExhausted(found.kind);
  if (!made.length || found.kind === 'date') return made[0] ?? /** @type {string} */ (later);
  return (await sameLength(found, looked, made, count)).made;
}

/**
 * The first of those whose number of tokens differs least from the value's.
 * @param {Found} found @param {Looked} looked @param {string[]} made @param {CountTokens} count
 */
async function sameLength({ kind, start, end, written }, looked, made, count) {
  // As words of a sentence have them.
  const texts = [written, ...made.map((each) => respelled(kind, each, looked, start, end))].map((text) => ` ${text}`);
  const [wanted, ...lengths] = await count(texts);
  const off = lengths.map((length) => Math.abs(length - wanted));
  const least = Math.min(...off);
  return { made: made[off.indexOf(least)], off: least };
}

/** Those that are not refused, with their numbers. @param {Uint8Array} secret @param {Found} found @param {Spoken} spoken @returns {Generator<[number, string]>} */
function* attempts(secret, found, spoken) {
  for (let attempt = 0; attempt < MOST_ATTEMPTS; attempt++) {
    const made = attempted(secret, found.kind, found.key, found.rule, attempt);
    if (made !== null && !isRefused(found, made, spoken)) yield [attempt, made];
  }
}

/**
 * The surrogate of one attempt, refused or not.
 * @param {Uint8Array} secret @param {string} kind @param {string} key @param {string} rule @param {number} attempt
 * @returns {string | null} null where it could be somebody's
 */
export function attempted(secret, kind, key, rule, attempt) {
  const draws = new Draws(secret, kind, key, attempt);
  switch (kind) {
    case 'iban': return ibanFor(key, draws);
    case 'card': return cardFor(key, draws);
    case 'id': return idFor(key, rule, draws);
    case 'phone': return phoneFor(key, draws);
    case 'email': return emailFor(draws);
    case 'date': return dateFor(key, draws);
    case 'street': return streetFor(key, rule, draws);
    case 'place': return placeFor(rule, draws);
    default: return nameFor(kind, key, attempt, draws);
  }
}

/** @param {Found} found @param {string} made @param {Spoken} spoken */
function isRefused({ kind, key }, made, spoken) {
  if (NUMBERS.has(kind)) {
    const own = numberOf(kind, made);
    if (own === numberOf(kind, key) || spoken.numbers.some((text) => text.includes(own))) return true;
    return meets(own, spoken.ofNumbers);
  }
  const own = folded(made).lower;
  if (own === key || spoken.texts.some((text) => text.includes(own))) return true;
  if (!NAMES.has(kind)) return meets(own, spoken.ofTexts);
  return [own, `${own}s`, own.endsWith('s') ? own.slice(0, -1) : own].some((each) => spoken.ofNames.has(each));
}

/** Whether one is part of the other. @param {string} made @param {Set<string>} others */
function meets(made, others) {
  for (const other of others) if (made.includes(other) || other.includes(made)) return true;
  return false;
}
