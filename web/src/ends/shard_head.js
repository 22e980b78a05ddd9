/** @typedef {import('./plane/layout.js').Layout} Layout */
/** @typedef {import('./kernels.js').Kernels} Kernels */
/** @typedef {import('./table.js').ShardTable} ShardTable */
/**
 * Where the estimates of all rows come from; on a GPU they take their time.
 * @typedef {object} Estimator
 * @property {string} kernel
 * @property {Float32Array} estimates
 * @property {(hidden: Float32Array) => void | Promise<void>} estimate
 */

/**
 * What a shortlist needs.
 *
 * @typedef {object} Wanted
 * @property {number} size rows of this shard on the shortlist
 * @property {Int32Array} also rows of the shard that are not to be listed, but wanted
 * @property {{factor: number, cap: number, temperature: number} | null} weight of the rows left out; cap 0:
 *   none
 *
 * The rows of the largest estimates, rescored.
 * @typedef {object} Shortlist
 * @property {boolean} finite false: an estimate overflows or there are none, and nothing else below holds
 * @property {Int32Array} rows of the shard
 * @property {Float32Array} biased row . hidden + bias of `rows`
 * @property {Float32Array} alsoBiased of `also`
 * @property {number} squares sum of the squared distances of `biased` from the estimates
 * @property {number} leftOut no row left out has a higher estimate; -Infinity: none is left out
 * @property {number} rest sum of exp((logit - reference) / temperature) over the rows left out
 * @property {number} reference
 */

/** The LM head's share of one worker: estimates, shortlist, exact products. */
export class ShardHead {
  /**
   * @param {ShardTable} table @param {Estimator | null} plane
   * @param {{layout: Layout, memory: WebAssembly.Memory, kernels: Kernels}} place
   */
  constructor(table, plane, { layout, memory, kernels }) {
    this._table = table;
    this._plane = plane;
    this._layout = layout;
    this._buffer = memory.buffer;
    this._kernels = kernels;
    this._bias = layout.bias ? new Float32Array(memory.buffer, layout.bias, layout.rows) : null;
  }

  /** The kernel of the estimates; null: there are none. */
  get kernel() {
    return this._plane?.kernel ?? null;
  }

  /**
   * @param {Float32Array} hidden @param {Wanted} wanted @returns {Promise<Shortlist>}
   * @throws {GpuLost} ask again of a head that is not on the GPU
   */
  async shortlist(hidden, wanted) {
    const plane = /** @type {Estimator} */ (this._plane);
    this._table.setHidden(hidden);
    const estimating = plane.estimate(hidden);
    if (estimating) await estimating;
    const { estimates, bias, rows } = this._layout;
    if (!this._kernels.addBias(estimates, bias, rows)) return noShortlist();
    for (const row of wanted.also) plane.estimates[row] = -Infinity;
    return this.longer(wanted);
  }

  /** As `shortlist`, of the estimates that are there. @param {Wanted} wanted @returns {Promise<Shortlist>} */
  async longer({ size, also, weight }) {
    const { estimates } = /** @type {Estimator} */ (this._plane);
    const { rows, leftOut } = this._select(size, estimates.length - also.length);
    const products = await this._table.products(joined(rows, also));
    const biased = this._withBias(products.subarray(0, rows.length), rows);
    const alsoBiased = this._withBias(products.subarray(rows.length), also);
    const known = Float32Array.from(rows, (row) => estimates[row]);
    const squares = known.reduce((sum, estimate, i) => sum + (biased[i] - estimate) ** 2, 0);
    const rest = weight ? this._restOf(rows, known, biased, weight) : { rest: 0, reference: 0 };
    return { finite: true, rows, biased, alsoBiased, squares, leftOut, ...rest };
  }

  /** row . hidden + bias of some rows. @param {Float32Array} hidden @param {Int32Array} rows */
  async products(hidden, rows) {
    this._table.setHidden(hidden);
    return this._withBias(await this._table.products(rows), rows);
  }

  /** The same of all rows. @param {Float32Array} hidden */
  async allProducts(hidden) {
    this._table.setHidden(hidden);
    const products = await this._table.allProducts();
    const bias = this._bias;
    return bias ? products.map((value, row) => value + bias[row]) : products;
  }

  /**
   * Rising rows of the largest estimates.
   * @param {number} size @param {number} available rows to choose from
   */
  _select(size, available) {
    if (size >= available) size = available;
    const { estimates, rows: count, heapValues, heapIds } = this._layout;
    if (size > 0) this._kernels.select(estimates, count, size, heapValues, heapIds);
    const rows = new Int32Array(this._buffer, heapIds, size).slice().sort();
    const lowest = new Float32Array(this._buffer, heapValues, size)[0];
    return { rows, leftOut: size === available ? -Infinity : lowest };
  }

  /** @param {Float32Array} products @param {Int32Array} rows */
  _withBias(products, rows) {
    const bias = this._bias;
    return bias ? products.map((value, i) => value + bias[rows[i]]) : products.slice();
  }

  /**
   * @param {Int32Array} listed @param {Float32Array} known their estimates @param {Float32Array} biased
   * @param {{factor: number, cap: number, temperature: number}} weight
   */
  _restOf(listed, known, biased, { factor, cap, temperature }) {
    const { estimates: all } = /** @type {Estimator} */ (this._plane);
    const largest = biased.reduce((a, b) => Math.max(a, b), -Infinity) * factor;
    const reference = Math.fround(cap ? Math.tanh(largest / cap) * cap : largest);
    for (const row of listed) all[row] = -Infinity;
    const { estimates, rows } = this._layout;
    const rest = this._kernels.weightOf(estimates, rows, factor, cap, reference, temperature);
    listed.forEach((row, i) => (all[row] = known[i]));
    return { rest, reference };
  }
}

/** What says that only products of all rows will do. @returns {Shortlist} */
export function noShortlist() {
  const biased = new Float32Array();
  const none = { biased, alsoBiased: biased, squares: 0, leftOut: Infinity, rest: 0, reference: 0 };
  return { finite: false, rows: new Int32Array(), ...none };
}

/** @param {Int32Array} first @param {Int32Array} second */
function joined(first, second) {
  const both = new Int32Array(first.length + second.length);
  both.set(first);
  both.set(second, first.length);
  return both;
}
