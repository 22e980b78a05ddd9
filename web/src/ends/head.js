import { invalidHiddenState, nonFiniteLogits, tokenIdOutOfRange } from './errors.js';
import { concatenated, ranked, restWeight, tooShort } from './merge.js';
import { rankAll } from './ranking.js';
import { factorOf, finishBiased } from './spec.js';

/** @typedef {import('./links.js').WorkerLink} WorkerLink */
/** @typedef {import('./spec.js').Spec} Spec */
/** @typedef {import('./shard_head.js').Shortlist} Shortlist */
/** @typedef {import('../../types/gatelink.js').TopLogits} TopLogits */
/** @typedef {import('../../types/gatelink.js').Interval} Interval */
/** @typedef {import('../../types/gatelink.js').LMHead} LMHead */
/** @typedef {{link: WorkerLink, first: number, rows: number}} HeadShard */

/**
 * How long a shortlist is at first, at least and for each row wanted, and how much longer it becomes while it
 * does not stand apart. `scarce`: where scattered rows are slow to read, one more look at the estimates costs
 * less than rows that are not needed; from the length of the ample one on it grows as that does.
 */
const AMPLE = { least: 512, perWanted: 4, growth: 4 };
const SCARCE = { least: 128, perWanted: 4, growth: 1.5 };
/** A shortlist above this part of the rows costs as much as a full product. */
const LARGEST_PART = 4;

/**
 * The LM head over the shards of several workers. With a plane, estimates name a shortlist that is rescored
 * exactly and grows until it stands apart (not proven, measured: see docs/lm-heads.md); without one, or where
 * it does not, every row is read. Calls take their turn.
 * @implements {LMHead}
 */
export class ShardedHead {
  /**
   * @param {HeadShard[]} shards in the order of their rows
   * @param {{rows: number, hiddenSize: number, compact: boolean, spec: Spec, scarce?: boolean}} shape
   *   `scarce`: scattered rows are slow to read
   */
  constructor(shards, { rows, hiddenSize, compact, spec, scarce = false }) {
    this.rows = rows;
    this.compact = compact;
    this._shards = shards;
    this._hiddenSize = hiddenSize;
    this._spec = spec;
    /** Scattered rows are slow to read, so that a shortlist begins short. */
    this.scarce = scarce;
    /** @type {Promise<unknown>} */
    this._last = Promise.resolve();
  }

  /**
   * The first `k` rows outside `also`, and the logits of `also`.
   * @param {Float32Array} hidden @param {number} k @param {Int32Array} [also]
   * @returns {Promise<TopLogits>}
   * @throws {EndsError} invalid_hidden_state, token_id_out_of_range, non_finite_logits, ends_failed
   */
  top(hidden, k, also = new Int32Array()) {
    return this._inTurn(async () => {
      this._check(hidden, also);
      const distinct = new Set(also);
      const wanted = Math.max(0, Math.min(k, this.rows - distinct.size));
      if (!wanted) return this._onlyAlso(hidden, also);
      const found = await this._found(hidden, wanted, also, distinct.size, null);
      return found ? found.top : this._fullTop(hidden, wanted, also);
    });
  }

  /**
   * `top`, and an interval for the sum of exp((logit - first) / temperature) over the rows that are neither
   * in `ids` nor in `also`, first being the first of the top logits. null: only all logits can tell.
   * @param {Float32Array} hidden @param {number} k @param {number} temperature @param {Int32Array} [also]
   * @returns {Promise<{top: TopLogits, rest: Interval} | null>}
   * @throws {EndsError} as `top`
   */
  topAndRest(hidden, k, temperature, also = new Int32Array()) {
    return this._inTurn(async () => {
      this._check(hidden, also);
      return this._found(hidden, k, also, new Set(also).size, temperature);
    });
  }

  /**
   * All logits [rows], exactly; reads every row.
   * @param {Float32Array} hidden
   * @returns {Promise<Float32Array>}
   * @throws {EndsError} as `top`
   */
  logits(hidden) {
    return this._inTurn(async () => {
      this._check(hidden, new Int32Array());
      return this._allLogits(hidden);
    });
  }

  /** @template T @param {() => Promise<T>} work @returns {Promise<T>} */
  _inTurn(work) {
    const done = this._last.then(work);
    this._last = done.catch(() => undefined);
    return done;
  }

  /** @param {Float32Array} hidden @param {Int32Array} also */
  _check(hidden, also) {
    if (hidden.length !== this._hiddenSize) {
      throw invalidHiddenState(`${hidden.length} values, not ${this._hiddenSize}`);
    }
    if (!hidden.every(Number.isFinite)) throw invalidHiddenState('it holds NaN or infinity');
    const outside = also.find((id) => id < 0 || id >= this.rows);
    if (outside !== undefined) throw tokenIdOutOfRange(outside, this.rows);
  }

  /**
   * @param {Float32Array} hidden @param {number} k @param {Int32Array} also
   * @param {number} distinct ids in `also`
   * @param {number | null} temperature null: no interval is wanted
   * @returns {Promise<{top: TopLogits, rest: Interval} | null>}
   */
  async _found(hidden, k, also, distinct, temperature) {
    const parts = this._parts(also);
    const lists = await this._listed(hidden, k, parts, distinct, temperature);
    if (!lists) return null;
    const firsts = this._shards.map((shard) => shard.first);
    const { ids, logits } = ranked(lists, firsts, this._spec);
    checkFinite(logits, (i) => ids[i]);
    const alsoBiased = lists.map((list) => list.alsoBiased);
    const alsoLogits = this._finished(this._gathered(parts, alsoBiased, also), also);
    const top = { ids: ids.slice(0, k), logits: logits.slice(0, k), alsoLogits };
    const factor = factorOf(this._spec);
    const none = { low: 0, high: Infinity };
    return { top, rest: temperature ? restWeight(lists, logits, k, factor, temperature) : none };
  }

  /**
   * Shortlists that stand apart from what they leave out, or null.
   * @param {Float32Array} hidden @param {number} k @param {Int32Array[]} parts rows of `also` in each shard
   * @param {number} distinct @param {number | null} temperature
   * @returns {Promise<Shortlist[] | null>}
   */
  async _listed(hidden, k, parts, distinct, temperature) {
    const largest = Math.floor((this.rows - distinct) / LARGEST_PART);
    // Rows left out have their weight from the estimates, so that a draw from all rows leaves out fewer.
    const lengths = this.scarce && temperature === null ? SCARCE : AMPLE;
    const size = Math.max(lengths.least, lengths.perWanted * k);
    if (!this.compact || k <= 0 || size > largest) return null;
    const sizes = this._shards.map(({ rows }) => Math.ceil((size * rows) / this.rows));
    const weight = temperature && this._weight(temperature);
    const wanted = (/** @type {number} */ i) => ({ size: sizes[i], also: parts[i], weight });
    const lists = await this._each((link, i) => link.ask('shortlist', { hidden, wanted: wanted(i) }));
    for (;;) {
      if (lists.some((list) => !list.finite)) return null;
      const short = tooShort(lists, k, this._spec);
      if (!short.length) return lists;
      const { growth } = total(sizes) < AMPLE.least ? lengths : AMPLE;
      for (const i of short) sizes[i] = Math.ceil(sizes[i] * growth);
      if (total(sizes) > largest) return null;
      const longer = await Promise.all(
        short.map((i) => this._shards[i].link.ask('longer', { wanted: wanted(i) })),
      );
      short.forEach((i, at) => (lists[i] = longer[at]));
    }
  }

  /** @param {number} temperature */
  _weight(temperature) {
    return { factor: factorOf(this._spec), cap: this._spec.softcap ?? 0, temperature };
  }

  /** @param {Float32Array} hidden @param {Int32Array} also @returns {Promise<TopLogits>} */
  async _onlyAlso(hidden, also) {
    const parts = this._parts(also);
    const products = await this._each(async (link, i) =>
      parts[i].length ? link.ask('products', { hidden, rows: parts[i] }) : new Float32Array(),
    );
    const alsoLogits = this._finished(this._gathered(parts, products, also), also);
    return { ids: new Int32Array(), logits: new Float32Array(), alsoLogits };
  }

  /** @param {Float32Array} hidden @param {number} k @param {Int32Array} also @returns {Promise<TopLogits>} */
  async _fullTop(hidden, k, also) {
    const logits = await this._allLogits(hidden);
    const alsoLogits = Float32Array.from(also, (id) => logits[id]);
    for (const id of also) logits[id] = -Infinity;
    return { ...rankAll(logits, k), alsoLogits };
  }

  /** @param {Float32Array} hidden */
  async _allLogits(hidden) {
    const parts = await this._each((link) => link.ask('allProducts', { hidden }));
    const logits = finishBiased(this._spec, concatenated(parts));
    checkFinite(logits, (i) => i);
    return logits;
  }

  /** @param {Float32Array} biased @param {Int32Array} ids */
  _finished(biased, ids) {
    const logits = finishBiased(this._spec, biased);
    checkFinite(logits, (i) => ids[i]);
    return logits;
  }

  /** Distinct rows of `ids` within each shard, rising. @param {Int32Array} ids */
  _parts(ids) {
    const distinct = Int32Array.from(new Set(ids)).sort();
    return this._shards.map(({ first, rows }) =>
      distinct.filter((id) => id >= first && id < first + rows).map((id) => id - first),
    );
  }

  /** @template T @param {(link: WorkerLink, index: number) => Promise<T>} ask @returns {Promise<T[]>} */
  _each(ask) {
    return Promise.all(this._shards.map(({ link }, i) => ask(link, i)));
  }

  /**
   * Values of `ids` in their order, from those of each shard's distinct rows.
   * @param {Int32Array[]} parts @param {Float32Array[]} values @param {Int32Array} ids
   */
  _gathered(parts, values, ids) {
    /** @type {Map<number, number>} */
    const known = new Map();
    parts.forEach((rows, i) =>
      rows.forEach((row, at) => known.set(this._shards[i].first + row, values[i][at])),
    );
    return Float32Array.from(ids, (id) => /** @type {number} */ (known.get(id)));
  }
}

/** @param {number[]} sizes */
function total(sizes) {
  return sizes.reduce((a, b) => a + b, 0);
}

/** @param {Float32Array} logits @param {(index: number) => number} idOf */
function checkFinite(logits, idOf) {
  const bad = logits.findIndex((logit) => !Number.isFinite(logit));
  if (bad >= 0) throw nonFiniteLogits(idOf(bad));
}
