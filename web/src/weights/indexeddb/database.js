import { StoreFailed } from '../errors.js';

const NAME = 'gatelink-models';
const VERSION = 1;

/**
 * Two object stores without key paths: `models` by [digest, 'manifest'], [digest, 'journal'] (bytes),
 * [digest, 'record'] (bytes that a record of its parts aims at; without it 32 KiB) and
 * [digest, 'derived', name] ({size, sealed}); `pieces` by [digest, part or derived name, index] (bytes).
 * @param {IDBFactory} [factory]
 * @returns {Promise<IDBDatabase>}
 */
export function openDatabase(factory = globalThis.indexedDB) {
  return new Promise((resolve, reject) => {
    if (!factory) throw new StoreFailed('no IndexedDB here');
    const request = factory.open(NAME, VERSION);
    request.onupgradeneeded = () => {
      request.result.createObjectStore('models');
      request.result.createObjectStore('pieces');
    };
    request.onblocked = () => reject(new StoreFailed('another tab holds an older version; close it'));
    request.onerror = () => reject(request.error);
    request.onsuccess = () => {
      const database = request.result;
      database.onversionchange = () => database.close();
      resolve(database);
    };
  });
}

/** @template T @param {IDBRequest<T>} request @returns {Promise<T>} */
export function promised(request) {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
}

/**
 * Runs `work` in one transaction over both stores: all of it happens or nothing, and (durability 'strict') it
 * is on the disk when this ends.
 * @param {IDBDatabase} database
 * @param {(models: IDBObjectStore, pieces: IDBObjectStore) => void|Promise<void>} work may wait only for
 *   requests
 * @param {IDBTransactionDurability} [durability]
 */
export async function atomically(database, work, durability = 'strict') {
  const transaction = database.transaction(['models', 'pieces'], 'readwrite', { durability });
  const ended = new Promise((resolve, reject) => {
    transaction.oncomplete = resolve;
    transaction.onabort = () => reject(transaction.error ?? new StoreFailed('a transaction was given up'));
  });
  // A failure of `work` is told instead; the transaction's own end must not count as unheard.
  ended.catch(() => {});
  try {
    await work(transaction.objectStore('models'), transaction.objectStore('pieces'));
  } catch (error) {
    abort(transaction);
    throw transaction.error ?? error;
  }
  await ended;
}

/** @param {IDBTransaction} transaction */
function abort(transaction) {
  try {
    transaction.abort();
  } catch {
    // It has ended already.
  }
}
