// The database of noised mode in this browser: what was spent, the keys of chats, numbers of tables.
//
// A transaction that writes waits for those of other tabs before it reads, so one read, check and write is
// never torn; it is on the disk when `run` resolves, as far as the browser says.
import { AppError } from '../common/errors.js';
import { LedgerBusy, LedgerFailed } from './errors.js';

const NAME = 'gatelink-noise';
const VERSION = 1;
// `ledger` and `tables`: by name; `chats`: by a chat's id; `releases`: by [chat's id, number].
const STORES = ['ledger', 'chats', 'releases', 'tables'];
const PATIENCE_MS = 10_000;

/** @typedef {(name: 'ledger' | 'chats' | 'releases' | 'tables') => IDBObjectStore} Stores */

export class NoiseDatabase {
  /** @param {{factory?: IDBFactory | null, patience?: number}} [options] patience: milliseconds */
  constructor({ factory = factoryHere(), patience = PATIENCE_MS } = {}) {
    this._factory = factory;
    this._patience = patience;
    /** @type {Promise<IDBDatabase> | null} */
    this._opened = null;
  }

  /**
   * One transaction over all stores: all of it happens or nothing. `work` may wait only for requests.
   * @template T
   * @param {'readonly' | 'readwrite'} mode @param {(stores: Stores) => Promise<T>} work
   * @returns {Promise<T>}
   * @throws {LedgerBusy | LedgerFailed | AppError} the latter: what `work` throws
   */
  async run(mode, work) {
    const transaction = await this._begin(mode);
    const ended = completion(transaction);
    try {
      const worked = work((name) => transaction.objectStore(name));
      const [result] = await within(this._patience, Promise.all([worked, ended]));
      return result;
    } catch (error) {
      abort(transaction);
      await ended.catch(() => {});
      throw typed(error);
    }
  }

  /** A browser closes databases as it likes, so one that is closed is opened again once.
   * @param {'readonly' | 'readwrite'} mode */
  async _begin(mode) {
    try {
      return transactionOf(await this._database(), mode);
    } catch (error) {
      if (error instanceof AppError) throw error;
      this._opened = null;
    }
    try {
      return transactionOf(await this._database(), mode);
    } catch (error) {
      throw typed(error);
    }
  }

  _database() {
    this._opened ??= within(this._patience, this._open()).catch((error) => {
      this._opened = null;
      throw typed(error);
    });
    return this._opened;
  }

  async _open() {
    if (!this._factory) throw new LedgerFailed('this browser keeps no database for this page');
    const request = this._factory.open(NAME, VERSION);
    request.onupgradeneeded = () => STORES.forEach((store) => request.result.createObjectStore(store));
    const database = await asked(request);
    const forget = () => {
      database.close();
      this._opened = null;
    };
    database.onversionchange = forget;
    database.onclose = forget;
    return database;
  }
}

/** @template T @param {IDBRequest<T>} request @returns {Promise<T>} */
export function asked(request) {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}

/** @param {IDBDatabase} database @param {'readonly' | 'readwrite'} mode */
function transactionOf(database, mode) {
  return database.transaction(STORES, mode, { durability: mode === 'readwrite' ? 'strict' : 'default' });
}

/** @param {IDBTransaction} transaction @returns {Promise<void>} */
function completion(transaction) {
  return new Promise((resolve, reject) => {
    transaction.oncomplete = () => resolve();
    transaction.onabort = () => reject(transaction.error ?? new LedgerFailed('the browser gave it up'));
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

/** @template T @param {number} ms @param {Promise<T>} promise @returns {Promise<T>} */
function within(ms, promise) {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new LedgerBusy()), ms);
    promise.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}

/** @param {unknown} error */
function typed(error) {
  if (error instanceof AppError) return error;
  const full = error instanceof Error && error.name === 'QuotaExceededError';
  const reason = full ? 'the storage of this browser is full' : 'the browser cannot read or write it';
  return new LedgerFailed(reason, error);
}

/** Reading `indexedDB` itself throws where storage is blocked. @returns {IDBFactory | null} */
function factoryHere() {
  try {
    return globalThis.indexedDB ?? null;
  } catch {
    return null;
  }
}
