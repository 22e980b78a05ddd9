import { DTYPE_CODES, sizeOf } from './floats.js';
import { weightsNotFinite, weightsSizeMismatch } from './errors.js';

/** @typedef {import('../../types/gatelink.js').FloatName} FloatName */
/** @typedef {import('../../types/gatelink.js').ShardReader} ShardReader */
/** @typedef {import('./plane/layout.js').Layout} Layout */
/** @typedef {import('./kernels.js').Kernels} Kernels */

/**
 * A shard of a weight table that stays in its file. Rows pass through the WASM memory a mebibyte at a time.
 *
 * A product is row . hidden in float64, rounded to float32 once (order of summation: wasm/rows.ts), so a row
 * gives the same bits however it is read.
 */
export class ShardTable {
  /**
   * @param {ShardReader} reader
   * @param {FloatName} dtype
   * @param {{layout: Layout, memory: WebAssembly.Memory, kernels: Kernels}} place
   */
  constructor(reader, dtype, { layout, memory, kernels }) {
    if (reader.rowBytes !== layout.hidden * sizeOf(dtype)) {
      throw weightsSizeMismatch(`rows of ${reader.rowBytes} bytes for ${layout.hidden} values`);
    }
    this.reader = reader;
    this.rows = reader.rows;
    this.hidden = layout.hidden;
    this._dtype = DTYPE_CODES[dtype];
    this._layout = layout;
    this._buffer = memory.buffer;
    this._kernels = kernels;
    this._atOnce = Math.floor(layout.rawBytes / reader.rowBytes);
    this._resident = false;
  }

  /** Keeps the whole shard in memory, where the layout has room for it. */
  async keep() {
    const into = new Uint8Array(this._buffer, this._layout.table, this.rows * this.reader.rowBytes);
    await this.reader.readRange(0, this.rows, into);
    this._resident = true;
  }

  /** The hidden state of the products that follow. @param {Float32Array} hidden */
  setHidden(hidden) {
    new Float64Array(this._buffer, this._layout.hidden64, this.hidden).set(hidden);
  }

  /**
   * row . hidden of the rows `indices` of the shard.
   * @param {Int32Array} indices @returns {Promise<Float32Array>}
   */
  async products(indices) {
    const products = new Float32Array(indices.length);
    for (let start = 0; start < indices.length; start += this._atOnce) {
      const part = indices.subarray(start, start + this._atOnce);
      const reading = this._readRows(part);
      if (reading) await reading;
      products.set(this._multiply(this._layout.raw, part.length), start);
    }
    return products;
  }

  /** row . hidden of every row. @returns {Promise<Float32Array>} */
  async allProducts() {
    const products = new Float32Array(this.rows);
    for (let start = 0; start < this.rows; start += this._atOnce) {
      const count = Math.min(this._atOnce, this.rows - start);
      products.set(this._multiply(await this.load(start, count), count), start);
    }
    return products;
  }

  /**
   * Rows as float32, one after the other; widening is exact.
   * @param {Int32Array} indices @returns {Promise<Float32Array>}
   * @throws {EndsError} weights_not_finite
   */
  async widened(indices) {
    const rows = new Float32Array(indices.length * this.hidden);
    for (let start = 0; start < indices.length; start += this._atOnce) {
      const part = indices.subarray(start, start + this._atOnce);
      await this._readRows(part);
      for (let i = 0; i < part.length; i++) {
        const row = this._widenRow(this._layout.raw + i * this.reader.rowBytes, part[i]);
        rows.set(row, (start + i) * this.hidden);
      }
    }
    return rows;
  }

  /**
   * Brings rows start .. start + count - 1 into the memory; how many fit at once: `atOnce`.
   * @param {number} start @param {number} count
   * @returns {Promise<number>} where they lie
   */
  async load(start, count) {
    if (this._resident) return this._layout.table + start * this.reader.rowBytes;
    const reading = this.reader.readRange(start, count, this._raw(count));
    if (reading) await reading;
    return this._layout.raw;
  }

  get atOnce() {
    return this._atOnce;
  }

  get dtypeCode() {
    return this._dtype;
  }

  /** @param {Int32Array} indices @returns {void | Promise<void>} */
  _readRows(indices) {
    const raw = this._raw(indices.length);
    if (!this._resident) return this.reader.readRows(indices, raw);
    const { rowBytes } = this.reader;
    const table = new Uint8Array(this._buffer, this._layout.table, this.rows * rowBytes);
    indices.forEach((row, i) => raw.set(table.subarray(row * rowBytes, (row + 1) * rowBytes), i * rowBytes));
    return undefined;
  }

  /** @param {number} count */
  _raw(count) {
    return new Uint8Array(this._buffer, this._layout.raw, count * this.reader.rowBytes);
  }

  /** @param {number} source @param {number} count */
  _multiply(source, count) {
    const { hidden64, rowScratch, products } = this._layout;
    this._kernels.products(this._dtype, source, count, this.hidden, hidden64, rowScratch, products);
    return new Float32Array(this._buffer, products, count);
  }

  /** @param {number} source @param {number} row for the error */
  _widenRow(source, row) {
    const { rowScratch } = this._layout;
    this._kernels.widen(this._dtype, source, this.hidden, rowScratch);
    if (this._kernels.firstNonFinite(rowScratch, this.hidden) >= 0) {
      throw weightsNotFinite(this.reader.first + row);
    }
    return new Float32Array(this._buffer, rowScratch, this.hidden);
  }
}
