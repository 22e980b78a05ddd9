/** @import { DerivedFile, ShardDescriptor, ShardReader } from '../../../types/gatelink.js' */
import { checkRange, eachRun } from '../reading.js';

/** Rows that lie in memory; nothing derived is kept. @implements {ShardReader} */
export class MemoryShard {
  /** @param {ShardDescriptor} descriptor */
  constructor({ first, rows, rowBytes, bytes }) {
    if (bytes?.length !== rows * rowBytes)
      throw new RangeError('the bytes of a shard in memory do not fit its rows');
    this.first = first;
    this.rows = rows;
    this.rowBytes = rowBytes;
    this.bytes = bytes;
  }

  /** @param {Int32Array} indices @param {Uint8Array} into */
  readRows(indices, into) {
    eachRun(indices, this.rows, into, this.rowBytes, (start, count, at) => {
      into.set(
        this.bytes.subarray(start * this.rowBytes, (start + count) * this.rowBytes),
        at * this.rowBytes,
      );
    });
  }

  /** @param {number} start @param {number} count @param {Uint8Array} into */
  readRange(start, count, into) {
    checkRange(start, count, this.rows, into, this.rowBytes);
    into.set(this.bytes.subarray(start * this.rowBytes, (start + count) * this.rowBytes));
  }

  /** @param {string} _name @param {number} _size @returns {Promise<DerivedFile|null>} */
  async openDerived(_name, _size) {
    return null;
  }

  /** @param {string} _name @param {number} _size @returns {Promise<DerivedFile|null>} */
  async createDerived(_name, _size) {
    return null;
  }

  close() {}
}
