/** @import { Backend, Kept, Layout, Part, Piece, Writer } from '../types.js' */
import { atomically, openDatabase, promised } from './database.js';
import { isWhole, keysOf, missing, readRun, RECORD, recordOf, runOf, writeRun } from './pieces.js';

// Arrays sort behind numbers and texts, so [digest, []] is behind every key of a model.
const modelKeys = (/** @type {string} */ digest) => IDBKeyRange.bound([digest], [digest, []]);
const partKeys = (/** @type {string} */ digest, /** @type {string} */ part) =>
  IDBKeyRange.bound([digest, part], [digest, part, []]);
const derivedKeys = (/** @type {string} */ digest) =>
  IDBKeyRange.bound([digest, 'derived'], [digest, 'derived', []]);

/**
 * Models in IndexedDB, where a browser has no OPFS. A chunk and its mark in the journal are one transaction.
 * @implements {Backend}
 */
export class IndexedDbBackend {
  kind = /** @type {const} */ ('indexeddb');

  /** @param {IDBDatabase} database */
  constructor(database) {
    this.database = database;
  }

  static async open() {
    return new IndexedDbBackend(await openDatabase());
  }

  async digests() {
    const keys = await promised(this.#models().getAllKeys());
    return [...new Set(keys.map((key) => /** @type {string[]} */ (key)[0]))];
  }

  /** @param {string} digest @returns {Promise<Kept|null>} */
  async read(digest) {
    const models = this.#models();
    const [manifest, journal] = await Promise.all([
      promised(models.get([digest, 'manifest'])),
      promised(models.get([digest, 'journal'])),
    ]);
    return manifest && journal ? { manifest, journal } : null;
  }

  /** @param {string} digest @param {Kept} kept */
  async begin(digest, { manifest, journal }) {
    await atomically(this.database, (models, pieces) => {
      models.delete(modelKeys(digest));
      pieces.delete(modelKeys(digest));
      models.put(manifest.slice(), [digest, 'manifest']);
      models.put(journal.slice(), [digest, 'journal']);
      models.put(RECORD, [digest, 'record']);
    });
  }

  /** @param {string} digest @returns {Promise<Writer>} */
  async write(digest) {
    return new IndexedDbWriter(this.database, digest, await this.#record(digest));
  }

  /** @param {string} digest @param {Layout} layout */
  async whole(digest, layout) {
    const record = await this.#record(digest);
    const whole = layout.parts.map((part) => isWhole(this.database, runOf(digest, part, record)));
    return (await Promise.all(whole)).every(Boolean);
  }

  /** Counted from the records' keys, not by reading them. @param {string} digest @param {Layout} layout */
  async bytes(digest, layout) {
    const [kept, record] = await Promise.all([this.read(digest), this.#record(digest)]);
    const pieces = this.database.transaction('pieces').objectStore('pieces');
    let sum = (kept?.manifest.length ?? 0) + (kept?.journal.length ?? 0);
    for (const part of layout.parts) {
      const run = runOf(digest, part, record);
      sum += Math.min(part.size, (await promised(pieces.count(keysOf(run)))) * run.pieceBytes);
    }
    for (const { size } of await promised(this.#models().getAll(derivedKeys(digest)))) sum += size;
    return sum;
  }

  /** @param {string} digest @param {Part} part */
  async part(digest, part) {
    const bytes = new Uint8Array(part.size);
    await readRun(this.database, runOf(digest, part, await this.#record(digest)), 0, bytes);
    return bytes;
  }

  /** @param {string} digest @param {Part} part */
  locate(digest, part) {
    return { path: [digest, part.name] };
  }

  /** @param {string} digest */
  async remove(digest) {
    await atomically(this.database, (models, pieces) => {
      models.delete(modelKeys(digest));
      pieces.delete(modelKeys(digest));
    });
  }

  /** @param {string} digest */
  async dropDerived(digest) {
    const keys = await promised(this.#models().getAllKeys(derivedKeys(digest)));
    await atomically(this.database, (models, pieces) => {
      for (const key of keys) pieces.delete(partKeys(digest, /** @type {string[]} */ (key)[2]));
      models.delete(derivedKeys(digest));
    });
  }

  /** @param {string} digest */
  #record(digest) {
    return recordOf(this.#models(), digest);
  }

  #models() {
    return this.database.transaction('models').objectStore('models');
  }
}

/** @implements {Writer} */
class IndexedDbWriter {
  /** @param {IDBDatabase} database @param {string} digest @param {number} record bytes that one aims at */
  constructor(database, digest, record) {
    this.database = database;
    this.digest = digest;
    this.record = record;
  }

  /** @param {Piece[]} pieces @param {number} journalAt */
  async keep(pieces, journalAt) {
    await atomically(this.database, async (models, store) => {
      await mark(models, this.digest, journalAt);
      for (const { part, at, bytes } of pieces)
        await writeRun(store, runOf(this.digest, part, this.record), at, bytes);
    });
  }

  /** @param {number} journalAt */
  async seal(journalAt) {
    await atomically(this.database, (models) => mark(models, this.digest, journalAt));
  }

  close() {}
}

/** @param {IDBObjectStore} models @param {string} digest @param {number} at */
async function mark(models, digest, at) {
  const journal = await promised(models.get([digest, 'journal']));
  if (!journal) throw missing();
  journal[at] = 1;
  models.put(journal, [digest, 'journal']);
}
