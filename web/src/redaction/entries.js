// The map of one chat: which surrogate stands for which value.
import { RedactionMapInvalid } from './errors.js';
import { NAMES } from './kinds.js';

/** @typedef {import('./kinds.js').Kind} Kind */
/**
 * `surrogate` stands for `value`, whose key is `key`: `value` as it was first written, `surrogate` of numbers and dates in
 * the form of their keys, else a text; `rule`: the one that found it, of ids and addresses.
 * @typedef {{kind: Kind, key: string, value: string, surrogate: string, rule: string}} Entry
 */

// Far more than a context can hold.
export const MOST_ENTRIES = 5_000;

/** In the order in which they were made. */
export class Entries {
  /** @param {Iterable<Entry>} [entries] throws RedactionMapInvalid */
  constructor(entries = []) {
    /** @type {Entry[]} */
    this.all = [];
    /** @type {Map<string, Entry>} */
    this._byKey = new Map();
    /** @type {Set<string>} */
    this._surrogates = new Set();
    for (const entry of entries) this.add(entry);
  }

  /** That of the value; a word has one entry, whichever name it is. @param {Kind} kind @param {string} key */
  get(kind, key) {
    return this._byKey.get(named(kind, key));
  }

  /**
   * Throws RedactionMapInvalid for a value that has one, for a surrogate that stands for another one, and where there are
   * too many.
   * @param {Entry} entry
   */
  add(entry) {
    const [key, surrogate] = [named(entry.kind, entry.key), named(entry.kind, entry.surrogate)];
    if (this._byKey.has(key) || this._surrogates.has(surrogate)) {
      throw new RedactionMapInvalid('two entries are of the same value or surrogate');
    }
    if (this.all.length >= MOST_ENTRIES) throw new RedactionMapInvalid(`it has more than ${MOST_ENTRIES} entries`);
    this.all.push(entry);
    this._byKey.set(key, entry);
    this._surrogates.add(surrogate);
  }
}

/** @param {Kind} kind @param {string} key */
function named(kind, key) {
  return `${NAMES.has(kind) ? 'name' : kind} ${key}`;
}
