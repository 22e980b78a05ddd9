/** Chats in IndexedDB: two tables, the chats and their summaries, always written together. */
import { ChatStoreFailed, StorageFull } from './errors.js';
import { TIMERS, within } from './patience.js';

/** @typedef {import('./types').Chat} Chat */
/** @typedef {import('./types').Summary} Summary */
/** @typedef {import('./records.js').Entry} Entry */
/** @typedef {import('./records.js').Change} Change */
/** Milliseconds after which a database is given up. @typedef {{opening?: number, working?: number, timers?: import('./patience.js').Timers}} Patience */

const NAME = 'gatelink-chats';
const VERSION = 1;
const CHATS = 'chats';
const SUMMARIES = 'summaries';
const OPENING_MS = 10_000;
// Importing 10,000 chats takes a slow machine a quarter of that.
const WORKING_MS = 60_000;

export class IndexedRecords {
  /** @param {IDBFactory} factory @param {Patience} [patience] */
  constructor(factory, { opening = OPENING_MS, working = WORKING_MS, timers = TIMERS } = {}) {
    this.factory = factory;
    this.opening = opening;
    this.working = working;
    this.timers = timers;
    /** @type {Promise<IDBDatabase>|null} */
    this.opened = null;
  }

  /** @returns {Promise<Summary[]>} */
  async summaries() {
    return this.#run('readonly', (change) => asked(change.objectStore(SUMMARIES).getAll()));
  }

  /** @param {string} id @returns {Promise<Entry|null>} */
  async entry(id) {
    return this.#run('readonly', async (change) => {
      const [chat, summary] = await Promise.all([
        asked(change.objectStore(CHATS).get(id)),
        asked(change.objectStore(SUMMARIES).get(id)),
      ]);
      return chat && summary ? { chat, summary } : null;
    });
  }

  /** Those of them that are there. @param {string[]} ids @returns {Promise<Chat[]>} */
  async chats(ids) {
    return this.#run('readonly', async (transaction) => {
      const table = transaction.objectStore(CHATS);
      const chats = await Promise.all(ids.map((id) => asked(table.get(id))));
      return chats.filter(Boolean);
    });
  }

  /**
   * Whole or not at all: what `work` puts and removes counts once it has ended without throwing.
   * @template T @param {(change: Change) => Promise<T>} work @returns {Promise<T>}
   */
  async change(work) {
    return this.#run('readwrite', (transaction) => {
      const chats = transaction.objectStore(CHATS);
      const summaries = transaction.objectStore(SUMMARIES);
      return work({
        summary: (id) => asked(summaries.get(id)),
        count: () => asked(summaries.count()),
        put: ({ chat, summary }) => {
          chats.put(chat);
          summaries.put(summary);
        },
        remove: (id) => {
          chats.delete(id);
          summaries.delete(id);
        },
      });
    });
  }

  close() {
    void this.opened?.then((database) => database.close());
    this.opened = null;
  }

  /**
   * @template T @param {IDBTransactionMode} mode
   * @param {(transaction: IDBTransaction) => Promise<T>} work @returns {Promise<T>}
   */
  async #run(mode, work) {
    const transaction = await this.#begin(mode);
    const ended = completion(transaction);
    try {
      const [result] = await within(this.working, Promise.all([work(transaction), ended]), this.timers);
      return result;
    } catch (error) {
      abort(transaction);
      await within(this.opening, ended, this.timers).catch(() => {});
      throw asTyped(error);
    }
  }

  /** A browser closes databases as it likes, so one that is closed is opened again once.
   * @param {IDBTransactionMode} mode */
  async #begin(mode) {
    try {
      return (await this.#database()).transaction([CHATS, SUMMARIES], mode);
    } catch {
      this.opened = null;
    }
    try {
      return (await this.#database()).transaction([CHATS, SUMMARIES], mode);
    } catch (error) {
      throw asTyped(error);
    }
  }

  #database() {
    this.opened ??= within(this.opening, this.#open(), this.timers).catch((error) => {
      this.opened = null;
      throw error;
    });
    return this.opened;
  }

  /** @returns {Promise<IDBDatabase>} */
  async #open() {
    const request = this.factory.open(NAME, VERSION);
    request.onupgradeneeded = () => {
      request.result.createObjectStore(CHATS, { keyPath: 'id' });
      request.result.createObjectStore(SUMMARIES, { keyPath: 'id' });
    };
    const database = await asked(request);
    const forget = () => {
      database.close();
      this.opened = null;
    };
    database.onversionchange = forget;
    database.onclose = forget;
    return database;
  }
}

/** @template T @param {IDBRequest<T>} request @returns {Promise<T>} */
function asked(request) {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}

/** @param {IDBTransaction} transaction @returns {Promise<void>} */
function completion(transaction) {
  return new Promise((resolve, reject) => {
    transaction.oncomplete = () => resolve();
    transaction.onabort = () => reject(transaction.error ?? new ChatStoreFailed());
  });
}

/** @param {IDBTransaction} transaction */
function abort(transaction) {
  try {
    transaction.abort();
  } catch {
    // It has ended by itself.
  }
}

/** @param {unknown} error */
function asTyped(error) {
  if (error instanceof Error && error.name === 'QuotaExceededError') return new StorageFull(error);
  return error instanceof DOMException || error instanceof TypeError ? new ChatStoreFailed(error) : error;
}
