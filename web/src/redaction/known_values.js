// What a map knows, in the forms in which it is looked for.
import { find } from './finding/find.js';
import { NAMES, NUMBERS, numberOf } from './kinds.js';
import { ownWords } from './own_names.js';
import { Spotter, keyOf } from './spotting.js';

/** @typedef {import('./entries.js').Entry} Entry */
/** @typedef {import('./finding/looked.js').Looked} Looked */
/** @typedef {'given' | 'family'} NameKind */
/** Keys of values and surrogates. @typedef {{ofNumbers: Set<string>, ofNames: Set<string>, ofTexts: Set<string>}} Sorted */

/** Of one map. */
export class KnownValues {
  /** @param {readonly string[]} names the person's own */
  constructor(names) {
    this._both = new Spotter(true);
    /** @type {Map<string, NameKind>} */
    this._names = new Map();
    /** @type {Map<string, NameKind>} */
    this._own = new Map(names.flatMap((name) => [...ownWords(name)]));
    /** @type {Sorted} */
    this.sorted = { ofNumbers: new Set(), ofNames: new Set(), ofTexts: new Set() };
  }

  /** One more entry of the map. @param {Entry} entry */
  add(entry) {
    const { kind, key } = entry;
    const surrogate = keyOf(kind, entry.surrogate);
    for (const each of [key, surrogate]) {
      if (kind !== 'given' && kind !== 'family') this._both.add({ kind, key: each, entry });
      else if (!this._names.has(each)) this._names.set(each, kind);
    }
    note(this.sorted, entry);
  }

  /**
   * All values in a text, and surrogates that somebody has typed.
   * @param {Looked} looked @param {ReadonlySet<string>} kinds
   */
  found(looked, kinds) {
    const spots = this._both.spots(looked).map(({ known: { kind, key, entry }, start, end, parts }) => {
      return looked.found(kind, key, start, end, entry.rule, parts);
    });
    // The person's own come first.
    const names = kinds.has('given') ? new Map([...this._names, ...this._own]) : this._names;
    return find(looked, kinds, spots, names);
  }
}

/** Puts value and surrogate of an entry into the set of their sort. @param {Sorted} sorted @param {Entry} entry */
export function note({ ofNumbers, ofNames, ofTexts }, { kind, key, surrogate }) {
  for (const each of [key, keyOf(kind, surrogate)]) {
    if (NUMBERS.has(kind)) ofNumbers.add(numberOf(kind, each));
    else (NAMES.has(kind) ? ofNames : ofTexts).add(each);
  }
}
