import { MemoryShard } from '../weights/memory/shard.js';
import { RowCache } from '../weights/row_cache.js';

/** @typedef {import('../../types/gatelink.js').ShardReader} ShardReader */

const SLICE = 2 ** 20;

/**
 * A shard whose rows are all in memory. What is derived from it stays with its store.
 * @implements {ShardReader}
 */
export class AllRowsKept extends MemoryShard {
  /** @param {ShardReader} reader @param {Uint8Array} bytes of all rows */
  constructor(reader, bytes) {
    const { first, rows, rowBytes } = reader;
    super({ kind: 'memory', path: [], first, rows, rowBytes, bytes });
    this._reader = reader;
  }

  /**
   * @param {ShardReader} reader
   * @throws {RangeError} that much memory cannot be had
   */
  static async of(reader) {
    const { rows, rowBytes } = reader;
    const bytes = new Uint8Array(rows * rowBytes);
    const atOnce = Math.max(1, Math.floor(SLICE / rowBytes));
    for (let start = 0; start < rows; start += atOnce) {
      const count = Math.min(atOnce, rows - start);
      const reading = reader.readRange(start, count, bytes.subarray(start * rowBytes));
      if (reading) await reading;
    }
    return new AllRowsKept(reader, bytes);
  }

  /** @override @param {string} name @param {number} size */
  openDerived(name, size) {
    return this._reader.openDerived(name, size);
  }

  /** @override @param {string} name @param {number} size */
  createDerived(name, size) {
    return this._reader.createDerived(name, size);
  }

  /** @override */
  close() {
    this.bytes = new Uint8Array();
    this._reader.close();
  }
}

/**
 * A shard of which the rows used last are in memory.
 * @implements {ShardReader}
 */
export class LastRowsKept {
  /**
   * @param {ShardReader} reader @param {number} limit rows
   * @throws {RangeError} that much memory cannot be had
   */
  constructor(reader, limit) {
    this.first = reader.first;
    this.rows = reader.rows;
    this.rowBytes = reader.rowBytes;
    this._reader = reader;
    this._cache = new RowCache(limit, reader.rowBytes);
  }

  /** @param {Int32Array} indices @param {Uint8Array} into */
  readRows(indices, into) {
    const width = this.rowBytes;
    const places = Int32Array.from(indices.keys()).filter((at) => !this._cache.copy(indices[at], into, at * width));
    if (!places.length) return undefined;
    const missing = places.map((at) => indices[at]);
    const found = new Uint8Array(missing.length * width);
    const settle = () => this._settle(missing, found, places, into);
    const reading = this._reader.readRows(missing, found);
    return reading ? reading.then(settle) : settle();
  }

  /** @param {number} start @param {number} count @param {Uint8Array} into */
  readRange(start, count, into) {
    return this._reader.readRange(start, count, into);
  }

  /** @param {string} name @param {number} size */
  openDerived(name, size) {
    return this._reader.openDerived(name, size);
  }

  /** @param {string} name @param {number} size */
  createDerived(name, size) {
    return this._reader.createDerived(name, size);
  }

  close() {
    this._cache.clear();
    this._reader.close();
  }

  /** @param {Int32Array} rows @param {Uint8Array} found @param {Int32Array} places @param {Uint8Array} into */
  _settle(rows, found, places, into) {
    const width = this.rowBytes;
    rows.forEach((row, i) => {
      const bytes = found.subarray(i * width, (i + 1) * width);
      into.set(bytes, places[i] * width);
      this._cache.keep(row, bytes);
    });
  }
}
