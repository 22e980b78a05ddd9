import { MAX_SHARDS } from '../layout.js';

/**
 * What of a model is kept: a header (magic, shards, sealed), then one byte for each chunk of all files in the
 * manifest's order, 1 once the chunk lies safe. One byte for a chunk, so that keeping one is a write of a
 * single byte, which no crash can tear.
 */
export class Journal {
  static #MAGIC = [0x47, 0x57, 0x4a, 0x31];
  static #HEADER = 8;
  /** Where the byte lies that says that all is kept and closed. */
  static SEAL = 5;

  /** @param {Uint8Array} bytes */
  constructor(bytes) {
    this.bytes = bytes;
  }

  /** @param {number} shards @param {number} chunks */
  static fresh(shards, chunks) {
    const bytes = new Uint8Array(Journal.#HEADER + chunks);
    bytes.set(Journal.#MAGIC);
    bytes[4] = shards;
    return new Journal(bytes);
  }

  /** Null where the bytes are no journal. @param {Uint8Array} bytes */
  static parse(bytes) {
    const known = Journal.#MAGIC.every((byte, index) => bytes[index] === byte);
    const shards = bytes[4] ?? 0;
    if (!known || bytes.length < Journal.#HEADER || shards < 1 || shards > MAX_SHARDS) return null;
    return new Journal(bytes);
  }

  /** Where the byte of a chunk lies. @param {number} chunk counted over all files */
  static at(chunk) {
    return Journal.#HEADER + chunk;
  }

  get chunks() {
    return this.bytes.length - Journal.#HEADER;
  }

  get shards() {
    return this.bytes[4];
  }

  get sealed() {
    return this.bytes[Journal.SEAL] === 1;
  }

  /** @param {number} chunk */
  has(chunk) {
    return this.bytes[Journal.at(chunk)] === 1;
  }
}
