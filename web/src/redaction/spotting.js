// Where values or surrogates that are known stand in a text, in any spelling.
import { datesIn } from './finding/dates.js';
import { plainKey } from './finding/streets.js';
import { wordsIn } from './finding/words.js';
import { folded } from './folding.js';
import { NAMES, NUMBERS, numberOf } from './kinds.js';
import { CALLING } from './phone_ranges.js';
import { RULES } from './rules.js';
import { gapOf } from './squeezed.js';

/** @typedef {import('./kinds.js').Kind} Kind */
/** @typedef {import('./entries.js').Entry} Entry */
/** @typedef {import('./finding/looked.js').Looked} Looked */
/** @typedef {import('./squeezed.js').Squeezed} Squeezed */
/** A text of `kind` that is looked for, in the form of a key; `entry`: whose it is. @typedef {{kind: Kind, key: string, entry: Entry}} Known */
/**
 * Where one stands, in folded characters; `parts` of a date.
 * @typedef {{start: number, end: number, known: Known, parts: import('./kinds.js').DateParts | null}} Spot
 */

const MOST_PREFIX = 8;

/** The key of a surrogate. @param {Kind} kind @param {string} text */
export function keyOf(kind, text) {
  return NUMBERS.has(kind) || kind === 'date' ? text : plainKey(folded(text).lower);
}

/** Looks for what was added. */
export class Spotter {
  /**
   * @param {boolean} [strict] a phone number is none where a digit stands before it, but those of its code, or behind it,
   *   also with a gap between: it is part of another one
   */
  constructor(strict = false) {
    this._strict = strict;
    /** Grows with each that is added. */
    this.count = 0;
    /** @type {Map<string, Known>} */
    this.numbers = new Map();
    /** @type {Map<string, Known & {search: RegExp}>} */
    this.texts = new Map();
    /** @type {Map<string, Known>} */
    this.dates = new Map();
    /** @type {Map<string, Known>} */
    this.names = new Map();
  }

  /** The first that has a key keeps it. @param {Known} known */
  add(known) {
    const { kind, key } = known;
    this.count += 1;
    if (NUMBERS.has(kind)) put(this.numbers, numberOf(kind, key), known);
    else if (kind === 'date') put(this.dates, key, known);
    else if (NAMES.has(kind)) put(this.names, key, known);
    else put(this.texts, key, { ...known, search: spelled(key) });
  }

  /** Without overlap, from left to right; of those that begin at one place the longest. @param {Looked} looked @returns {Spot[]} */
  spots(looked) {
    return apart([...this._numbersIn(looked), ...this._textsIn(looked), ...this._datesIn(looked), ...this._namesIn(looked)]);
  }

  /** @param {Looked} looked @returns {Generator<Spot>} */
  *_numbersIn(looked) {
    if (!this.numbers.size) return;
    const { squeezed } = looked;
    for (const [number, known] of this.numbers) {
      for (const [first, end] of squeezed.occurrences(number, gapOf(known.kind))) {
        if (!isAlone(squeezed, first, end, known)) continue;
        if (this._strict && known.kind === 'phone' && !isApart(squeezed, first, end, known)) continue;
        yield { start: squeezed.at[first], end: squeezed.at[end - 1] + 1, known, parts: null };
      }
    }
  }

  /** @param {Looked} looked @returns {Generator<Spot>} */
  *_textsIn({ lower }) {
    for (const [key, known] of this.texts) {
      if (!lower.includes(key.split(' ', 1)[0])) continue;
      for (const { 0: whole, index } of lower.matchAll(known.search)) {
        yield { start: index, end: index + whole.length, known, parts: null };
      }
    }
  }

  /** @param {Looked} looked @returns {Generator<Spot>} */
  *_datesIn({ text, lower, monthsFirst }) {
    if (!this.dates.size) return;
    for (const { key, start, end, parts } of datesIn(text, lower, monthsFirst)) {
      const known = this.dates.get(key);
      if (known) yield { start, end, known, parts };
    }
  }

  /** @param {Looked} looked @returns {Generator<Spot>} */
  *_namesIn({ text, lower }) {
    if (!this.names.size) return;
    for (const { key, start } of wordsIn(text, lower)) {
      const found = [key, key.endsWith('s') ? key.slice(0, -1) : key].find((each) => this.names.has(each));
      const known = found === undefined ? undefined : this.names.get(found);
      if (known && found) yield { start, end: start + found.length, known, parts: null };
    }
  }
}

/** Those that do not overlap with one that begins before, or there and is longer. @param {Spot[]} found */
export function apart(found) {
  /** @type {Spot[]} */
  const kept = [];
  let behind = 0;
  for (const spot of found.sort((a, b) => a.start - b.start || b.end - a.end)) {
    if (spot.start < behind) continue;
    kept.push(spot);
    behind = spot.end;
  }
  return kept;
}

/** @template T @param {Map<string, T>} all @param {string} key @param {T} known */
function put(all, key, known) {
  if (!all.has(key)) all.set(key, known);
}

/** @param {Squeezed} squeezed @param {number} first @param {number} end @param {Known} known */
function isAlone(squeezed, first, end, { kind, key }) {
  if (kind === 'iban') return !squeezed.followsDigit(first) && !squeezed.precedesDigit(end);
  if (squeezed.goesOn(end)) return false;
  return !squeezed.touches(first) || (kind === 'phone' && prefixes(key).has(prefixOf(squeezed, first)));
}

/** Whether a phone number goes on neither before nor behind, but for its code. @param {Squeezed} squeezed @param {number} first @param {number} end @param {Known} known */
function isApart(squeezed, first, end, { key }) {
  const { characters } = squeezed;
  const gap = gapOf('phone');
  let start = first;
  while (start > 0 && squeezed.together(start - 1, start + 1, gap) && first - start <= MOST_PREFIX) {
    if (!squeezed.isDigit(start - 1)) break;
    start -= 1;
  }
  const before = characters.slice(start, first);
  if (before && !prefixes(key).has(before)) return false;
  if (end >= characters.length || !squeezed.isDigit(end)) return true;
  return !squeezed.together(end - 1, end + 1, gap);
}

/** The letters and digits directly before. @param {Squeezed} squeezed @param {number} first */
function prefixOf(squeezed, first) {
  let start = first;
  while (start > 0 && squeezed.touches(start) && first - start <= MOST_PREFIX) start -= 1;
  return squeezed.characters.slice(start, first);
}

/** What may stand directly before the number of a phone: its code, a trunk prefix or both. @param {string} key */
function prefixes(key) {
  const code = key.slice(0, key.lastIndexOf(' '));
  if (!code.startsWith('+')) return new Set(['0']);
  const digits = code.slice(1);
  const trunks = ['', ...(CALLING.get(digits) ?? []).map(({ trunk }) => trunk)];
  return new Set(trunks.flatMap((trunk) => [trunk, digits + trunk, `00${digits}${trunk}`]).filter(Boolean));
}

/** @param {string} key */
function spelled(key) {
  const body = key.split(' ').map((part) => part.replace(/[.*+?^${}()|[\]\\\-/]/g, '\\$&')).join('[ \\n]{1,3}');
  return new RegExp(`(?<![0-9${RULES.letter}])${body}(?![0-9${RULES.letter}])`, 'g');
}
