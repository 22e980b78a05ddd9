import { HeadSpec } from '../../src/generation/head_spec.js';

/** @typedef {import('../../types/gatelink.d.ts').LMHead} LMHead */
/** @typedef {import('../../types/gatelink.d.ts').TopLogits} TopLogits */

/**
 * A LM head in this thread, by its definition: every row is multiplied, everything is sorted.
 * @implements {LMHead}
 */
export class PlainHead {
  /**
   * @param {Float32Array} weights [rows, hidden]
   * @param {number} hidden
   * @param {{spec?: HeadSpec, slack?: number | null}} [options] `slack`: how far, relatively, the bounds of
   *   the rest are from it; null: there are none
   */
  constructor(weights, hidden, { spec = new HeadSpec(), slack = 2 ** -10 } = {}) {
    this.rows = weights.length / hidden;
    this.calls = { top: 0, topAndRest: 0, logits: 0 };
    this._weights = weights;
    this._spec = spec;
    this._slack = slack;
    /** @type {{hidden: Float32Array, logits: Float32Array, sorted: number[]} | null} */
    this._last = null;
  }

  /**
   * @param {Float32Array} hidden @param {number} k @param {Int32Array} [also]
   * @returns {Promise<TopLogits>}
   */
  async top(hidden, k, also = new Int32Array(0)) {
    this.calls.top++;
    return this._ranked(hidden, also).top(k);
  }

  /** @param {Float32Array} hidden @param {number} k @param {number} temperature @param {Int32Array} [also] */
  async topAndRest(hidden, k, temperature, also = new Int32Array(0)) {
    this.calls.topAndRest++;
    if (this._slack === null || k >= this.rows - also.length) return null;
    const ranked = this._ranked(hidden, also);
    const top = ranked.top(k);
    let rest = 0;
    for (const id of ranked.order.slice(k)) {
      rest += Math.exp((ranked.logits[id] - top.logits[0]) / temperature);
    }
    return { top, rest: { low: rest * (1 - this._slack), high: rest * (1 + this._slack) + 2 ** -110 } };
  }

  /** @param {Float32Array} hidden */
  async logits(hidden) {
    this.calls.logits++;
    return this._logits(hidden);
  }

  /** @param {Float32Array} hidden */
  _logits(hidden) {
    const products = new Float32Array(this.rows);
    for (let row = 0; row < this.rows; row++) {
      let sum = 0;
      for (let i = 0; i < hidden.length; i++) sum += this._weights[row * hidden.length + i] * hidden[i];
      products[row] = sum;
    }
    return this._spec.finish(products);
  }

  /**
   * All ids by (-logit, id), kept for as long as the hidden state is the same.
   * @param {Float32Array} hidden
   */
  _sorted(hidden) {
    if (this._last?.hidden === hidden) return this._last;
    const logits = this._logits(hidden);
    const sorted = [...logits.keys()].sort((a, b) => logits[b] - logits[a] || a - b);
    this._last = { hidden, logits, sorted };
    return this._last;
  }

  /** @param {Float32Array} hidden @param {Int32Array} also */
  _ranked(hidden, also) {
    const { logits, sorted } = this._sorted(hidden);
    const without = new Set(also);
    const order = sorted.filter((id) => !without.has(id));
    const top = (/** @type {number} */ k) => {
      const ids = Int32Array.from(order.slice(0, Math.max(0, k)));
      const at = (/** @type {Int32Array} */ wanted) => Float32Array.from(wanted, (id) => logits[id]);
      return { ids, logits: at(ids), alsoLogits: at(also) };
    };
    return { logits, order, top };
  }
}

/** A head whose logits are the hidden state itself: rows of one entry each, and no product. */
export class EchoHead extends PlainHead {
  /** @param {number} rows @param {{slack?: number | null}} [options] */
  constructor(rows, options = {}) {
    super(new Float32Array(rows), 1, options);
  }

  /** @param {Float32Array} hidden */
  _logits(hidden) {
    return hidden.slice();
  }
}
