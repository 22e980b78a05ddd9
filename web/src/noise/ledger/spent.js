// The releases so far: whole numbers of rows per mechanism, from which losses follow.
//
// Squares of mu = distance / sigma add up, also when later inputs depend on earlier outputs (Dong, Roth,
// Su 2019). A sum that is read at the end holds for the number of releases taken as given; stopping before
// it exceeds a bound fixed in advance is a privacy filter (Smith, Thakurta 2022).
import { epsilonOfRelease } from '../mechanism/discrete.js';
import { InvalidPrivacyParameter } from '../errors.js';
import { checkPositive } from '../mechanism/gaussian.js';

/** Releases that cost the same: noise of `sigma` on rows of `width` values at most `distance` apart.
 * @typedef {{sigma: number, distance: number, width: number}} Kind */
/** `rows` were released; `sendings`: in how many of them the same token may have been.
 * @typedef {{rows: number, sendings: number}} Count */
/** @typedef {Kind & Count} Entry */

/** Counts of several kinds, and the loss that they are. Immutable. */
export class Spent {
  /** @param {readonly Entry[]} [entries] no two of one kind */
  constructor(entries = []) {
    this.entries = entries;
  }

  /** All of them together. @param {Iterable<Entry>} entries @returns {Spent} */
  static total(entries) {
    /** @type {Map<string, Entry>} */
    const summed = new Map();
    for (const entry of entries) {
      const name = `${entry.sigma} ${entry.distance} ${entry.width}`;
      const { rows, sendings } = summed.get(name) ?? { rows: 0, sendings: 0 };
      summed.set(name, { ...entry, rows: rows + entry.rows, sendings: sendings + entry.sendings });
    }
    // Sums of floats depend on their order, and two sides must get the same.
    const order = (/** @type {Entry} */ a, /** @type {Entry} */ b) =>
      a.sigma - b.sigma || a.distance - b.distance || a.width - b.width;
    return new Spent([...summed.values()].sort(order));
  }

  /**
   * After `count` more; negative numbers give back.
   * @param {Kind} kind @param {Partial<Count>} count @returns {Spent}
   */
  plus({ sigma, distance, width }, { rows = 0, sendings = 0 }) {
    return Spent.total([...this.entries, { sigma, distance, width, rows, sendings }]);
  }

  /** How many rows of one kind. @param {Kind} kind */
  rowsOf({ sigma, distance, width }) {
    const same = (/** @type {Entry} */ entry) =>
      entry.sigma === sigma && entry.distance === distance && entry.width === width;
    return this.entries.find(same)?.rows ?? 0;
  }

  /** Released in all. */
  get rows() {
    return this.entries.reduce((sum, { rows }) => sum + rows, 0);
  }

  /** How often the same token may have been sent. */
  get sendings() {
    return this.entries.reduce((sum, { sendings }) => sum + sendings, 0);
  }

  /** When every row is replaced; Infinity where nothing is proven. @param {number} delta */
  epsilon(delta) {
    return this._epsilon(delta, ({ rows }) => rows, ({ rows }) => rows);
  }

  /** When one token is replaced everywhere that it was sent. @param {number} delta */
  tokenEpsilon(delta) {
    return this._epsilon(delta, ({ rows, sendings }) => Math.min(rows, sendings), ({ sendings }) => sendings);
  }

  /**
   * @param {number} delta
   * @param {(entry: Entry) => number} counted releases whose losses add up
   * @param {(entry: Entry) => number} replaced rows whose values the slack of discrete noise is counted for
   */
  _epsilon(delta, counted, replaced) {
    let squared = 0;
    let values = 0;
    for (const entry of this.entries) {
      checkEntry(entry);
      squared += counted(entry) * (entry.distance / entry.sigma) ** 2;
      values += entry.width * replaced(entry);
    }
    return values ? epsilonOfRelease(delta, Math.sqrt(squared), values) : 0;
  }
}

/** @param {Entry} entry @throws {InvalidPrivacyParameter} */
function checkEntry({ sigma, distance, rows, sendings }) {
  checkPositive('sensitivity', distance);
  checkPositive('sigma', sigma);
  if (rows < 0 || sendings < 0) throw new InvalidPrivacyParameter('count', rows, '0 or more');
}

/** At most `epsilon` at `delta` when everything is replaced. */
export class Budget {
  /** @param {number} epsilon @param {number} delta */
  constructor(epsilon, delta) {
    this.epsilon = epsilon;
    this.delta = delta;
  }

  /**
   * How many of `most` further rows of `kind` stay within.
   * @param {Spent} spent @param {Kind} kind @param {number} most
   */
  room(spent, kind, most) {
    const allows = (/** @type {number} */ rows) =>
      spent.plus(kind, { rows }).epsilon(this.delta) <= this.epsilon;
    // Mostly there is room for all.
    if (most === 0 || allows(most)) return most;
    let low = 0;
    let high = most - 1;
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if (allows(middle)) low = middle;
      else high = middle - 1;
    }
    return low;
  }
}
