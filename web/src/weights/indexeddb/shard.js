/** @import { DerivedFile, ShardDescriptor, ShardReader } from '../../../types/gatelink.js' */
import { atomically, openDatabase, promised } from './database.js';
import { StorageFull, StoreFailed, storageError } from '../errors.js';
import {
  checkPiece, derivedRun, isWhole, keysOf, letGo, missing, readRun, recordOf, runOf, writeRun,
} from './pieces.js';
import { checkDerivedName, checkIndices, checkRange } from '../reading.js';
import { RowCache } from '../row_cache.js';

// What rows in memory may take: each reading costs a tenth of a millisecond of CPU, and tokens want the same
// rows again. With the 4-bit copy of all rows it stays below 0.4 of the weights.
const CACHE_PART = 1 / 100;
const CACHE_BYTES = 8 << 20;
// Records asked for before the first is waited for: bounds what of them is in memory.
const BATCH = 128;

/**
 * Rows of one part in IndexedDB; rows near each other share a record, and the rows used last are kept.
 * @implements {ShardReader}
 */
export class IndexedDbShard {
  /** @param {ShardDescriptor} descriptor @param {IDBDatabase} database @param {number} record */
  constructor({ path: [digest, name], first, rows, rowBytes }, database, record) {
    this.first = first;
    this.rows = rows;
    this.rowBytes = rowBytes;
    this.database = database;
    this.run = runOf(digest, { name, size: rows * rowBytes, rowBytes }, record);
    this.pieceRows = this.run.pieceBytes / rowBytes;
    const cached = Math.min(CACHE_BYTES, CACHE_PART * this.run.size);
    this.cache = new RowCache(Math.max(1, Math.floor(cached / rowBytes)), rowBytes);
  }

  /** @param {ShardDescriptor} descriptor */
  static async open(descriptor) {
    const database = await openDatabase();
    try {
      const models = database.transaction('models').objectStore('models');
      const record = await recordOf(models, descriptor.path[0]);
      const shard = new IndexedDbShard(descriptor, database, record);
      if (await isWhole(database, shard.run)) return shard;
      throw missing();
    } catch (error) {
      database.close();
      throw error;
    }
  }

  /** @param {Int32Array} indices @param {Uint8Array} into */
  async readRows(indices, into) {
    checkIndices(indices, this.rows, into, this.rowBytes);
    const width = this.rowBytes;
    /** @type {Map<number, number[]>} places in `indices` by record */
    const wanted = new Map();
    indices.forEach((index, at) => {
      if (this.cache.copy(index, into, at * width)) return;
      const piece = Math.floor(index / this.pieceRows);
      const places = wanted.get(piece);
      if (places) places.push(at);
      else wanted.set(piece, [at]);
    });
    const numbers = [...wanted.keys()].sort((a, b) => a - b);
    for (let from = 0; from < numbers.length; from += BATCH) {
      const batch = numbers.slice(from, from + BATCH);
      const pieces = await this.#pieces(batch);
      batch.forEach((number, nth) => {
        this.#copy(wanted.get(number) ?? [], indices, number, pieces[nth], into);
        letGo(pieces[nth]);
      });
    }
  }

  /** @param {number} start @param {number} count @param {Uint8Array} into */
  async readRange(start, count, into) {
    checkRange(start, count, this.rows, into, this.rowBytes);
    const width = this.rowBytes;
    await withStorageErrors(readRun(this.database, this.run, start * width, into.subarray(0, count * width)));
  }

  /** @param {string} name @param {number} size @returns {Promise<DerivedFile|null>} */
  async openDerived(name, size) {
    const run = this.#derived(name, size);
    const models = this.database.transaction('models').objectStore('models');
    const known = await withStorageErrors(promised(models.get([run.digest, 'derived', run.part])));
    // Another tab that makes the same file anew leaves it short for a while.
    const usable = known?.sealed && known.size === size && (await withStorageErrors(isWhole(this.database, run)));
    return usable ? new IndexedDbDerived(this.database, run) : null;
  }

  /** @param {string} name @param {number} size @returns {Promise<DerivedFile|null>} */
  async createDerived(name, size) {
    const run = this.#derived(name, size);
    const clear = atomically(this.database, (models, pieces) => {
      pieces.delete(keysOf(run));
      models.put({ size, sealed: false }, [run.digest, 'derived', run.part]);
    });
    try {
      await withStorageErrors(clear);
    } catch (error) {
      if (error instanceof StorageFull) return null;
      throw error;
    }
    return new IndexedDbDerived(this.database, run);
  }

  close() {
    this.cache.clear();
    this.database.close();
  }

  /** @param {number[]} numbers @returns {Promise<Uint8Array[]>} */
  async #pieces(numbers) {
    const { digest, part } = this.run;
    const read = async () => {
      const store = this.database.transaction('pieces').objectStore('pieces');
      return Promise.all(numbers.map((number) => promised(store.get([digest, part, number]))));
    };
    const pieces = await withStorageErrors(read());
    pieces.forEach((piece, nth) => checkPiece(this.run, numbers[nth], piece));
    return pieces;
  }

  /**
   * @param {number[]} places
   * @param {Int32Array} indices
   * @param {number} number
   * @param {Uint8Array} piece
   * @param {Uint8Array} into
   */
  #copy(places, indices, number, piece, into) {
    const width = this.rowBytes;
    for (const at of places) {
      const from = (indices[at] - number * this.pieceRows) * width;
      const row = piece.subarray(from, from + width);
      into.set(row, at * width);
      this.cache.keep(indices[at], row);
    }
  }

  /** @param {string} name @param {number} size */
  #derived(name, size) {
    return derivedRun(this.run.digest, `${this.run.part}.${checkDerivedName(name)}`, size);
  }
}

/** @implements {DerivedFile} */
class IndexedDbDerived {
  /** @param {IDBDatabase} database @param {import('./pieces.js').Run} run */
  constructor(database, run) {
    this.database = database;
    this.run = run;
  }

  /** @param {number} offset @param {Uint8Array} into */
  async read(offset, into) {
    checkRange(offset, into.length, this.run.size, into, 1);
    await withStorageErrors(readRun(this.database, this.run, offset, into));
  }

  /** @param {number} offset @param {Uint8Array} bytes */
  async write(offset, bytes) {
    checkRange(offset, bytes.length, this.run.size, bytes, 1);
    // What is not sealed may be lost.
    await withStorageErrors(
      atomically(this.database, (_, pieces) => writeRun(pieces, this.run, offset, bytes), 'relaxed'),
    );
  }

  async seal() {
    const { digest, part, size } = this.run;
    await withStorageErrors(
      atomically(this.database, (models) => {
        models.put({ size, sealed: true }, [digest, 'derived', part]);
      }),
    );
  }

  close() {}
}

/** @template T @param {Promise<T>} work @returns {Promise<T>} */
async function withStorageErrors(work) {
  try {
    return await work;
  } catch (error) {
    throw error instanceof RangeError ? new StoreFailed('RangeError', error) : storageError(error);
  }
}
