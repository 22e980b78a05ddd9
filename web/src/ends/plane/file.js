import { BLOCK, PLANE_HEADER } from './layout.js';

/** @typedef {import('../../../types/gatelink.js').ShardReader} ShardReader */
/** @typedef {import('../../../types/gatelink.js').DerivedFile} DerivedFile */
/** @typedef {import('./layout.js').Layout} Layout */
/** @typedef {import('../kernels.js').Kernels} Kernels */

export const PLANE_NAME = 'plane-1';
const MAGIC = 0x4e4c5047; // "GPLN"
const VERSION = 2;
const SLICE = 2 ** 20;

/**
 * The plane of a shard as a file beside it: a header of 64 bytes (u32 magic, version, columns per block,
 * rows, hidden, 0; u64 checksum of what follows), the column scales f32 [padded], the rows of the plane.
 * Little-endian.
 */
export class PlaneFile {
  /**
   * @param {ShardReader} reader
   * @param {{layout: Layout, memory: WebAssembly.Memory, kernels: Kernels}} place
   */
  constructor(reader, { layout, memory, kernels }) {
    this._reader = reader;
    this._layout = layout;
    this._kernels = kernels;
    this._bytes = new Uint8Array(memory.buffer, layout.planeFile, layout.planeBytes);
    this._header = new DataView(memory.buffer, layout.planeFile, PLANE_HEADER);
  }

  /** Reads the plane into memory; false: there is none that is whole, and the memory is zero. */
  async read() {
    const whole = (await this._readBytes()) && this._isExpected();
    if (!whole) this._bytes.fill(0);
    return whole;
  }

  async _readBytes() {
    /** @type {DerivedFile | null} */
    let file = null;
    try {
      file = await this._reader.openDerived(PLANE_NAME, this._bytes.length);
      if (!file) return false;
      for (let at = 0; at < this._bytes.length; at += SLICE) {
        await file.read(at, this._bytes.subarray(at, at + SLICE));
      }
      return true;
    } catch {
      // Another tab that makes it anew takes it away meanwhile.
      return false;
    } finally {
      file?.close();
    }
  }

  _isExpected() {
    return this._expected().every((word, i) => this._header.getUint32(4 * i, true) === word)
      && this._header.getBigUint64(24, true) === this._checksum();
  }

  /**
   * Stores the plane that lies in memory. A store that keeps none, or is full, costs the next start its time
   * and nothing else.
   */
  async write() {
    this._expected().forEach((word, i) => this._header.setUint32(4 * i, word, true));
    this._header.setBigUint64(24, this._checksum(), true);
    /** @type {DerivedFile | null} */
    let file = null;
    try {
      file = await this._reader.createDerived(PLANE_NAME, this._bytes.length);
      if (file) await this._writeInto(file);
    } catch {
      // What is not sealed does not count.
    } finally {
      file?.close();
    }
  }

  /** @param {DerivedFile} file */
  async _writeInto(file) {
    for (let at = 0; at < this._bytes.length; at += SLICE) {
      // A copy: a store that keeps what it is given would keep the whole memory.
      await file.write(at, this._bytes.slice(at, at + SLICE));
    }
    await file.seal();
  }

  _expected() {
    return [MAGIC, VERSION, BLOCK, this._layout.rows, this._layout.hidden, 0];
  }

  _checksum() {
    const start = this._layout.planeFile + PLANE_HEADER;
    return BigInt.asUintN(64, this._kernels.checksum(start, this._layout.planeBytes - PLANE_HEADER));
  }
}
