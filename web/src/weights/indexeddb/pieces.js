import { StoreFailed } from '../errors.js';
import { promised } from './database.js';

/**
 * A run of bytes in IndexedDB as records of the object store `pieces`, keyed by [model, part, index].
 * @typedef {object} Run
 * @property {string} digest
 * @property {string} part
 * @property {number} size bytes of all
 * @property {number} pieceBytes bytes of each record but the last
 */

/**
 * Bytes that records of a new model aim at. A token reads some hundred rows, each with its whole record;
 * records of one row would take twice as long to write.
 */
export const RECORD = 8 << 10;
/** That of models stored without a note of it. */
const RECORD_UNTOLD = 32 << 10;
// Records up to 64 KiB lie in Chromium's tables; larger ones become files, one for each.
const DERIVED_PIECE = 32 << 10;
// Records fetched by one request: bounds what is in memory twice.
const BATCH_BYTES = 1 << 20;

/**
 * What records of a stored model aim at.
 * @param {IDBObjectStore} models @param {string} digest
 * @returns {Promise<number>} bytes
 */
export async function recordOf(models, digest) {
  return (await promised(models.get([digest, 'record']))) ?? RECORD_UNTOLD;
}

/**
 * Records hold whole rows.
 * @param {string} digest
 * @param {{name: string, size: number, rowBytes: number|null}} part
 * @param {number} record bytes that a record aims at
 * @returns {Run}
 */
export function runOf(digest, { name, size, rowBytes }, record) {
  const row = rowBytes ?? 1;
  return { digest, part: name, size, pieceBytes: Math.max(1, Math.floor(record / row)) * row };
}

/** @param {string} digest @param {string} name @param {number} size @returns {Run} */
export function derivedRun(digest, name, size) {
  return { digest, part: name, size, pieceBytes: DERIVED_PIECE };
}

/** @param {Run} run @param {number} first @param {number} last */
export function keysOf({ digest, part }, first = 0, last = Number.MAX_SAFE_INTEGER) {
  return IDBKeyRange.bound([digest, part, first], [digest, part, last]);
}

/** Whether every record is there. @param {IDBDatabase} database @param {Run} run */
export async function isWhole(database, run) {
  const pieces = database.transaction('pieces').objectStore('pieces');
  return (await promised(pieces.count(keysOf(run)))) === Math.ceil(run.size / run.pieceBytes);
}

/**
 * Write `bytes` at `offset`, records that are covered in part being changed in place.
 * @param {IDBObjectStore} store of a readwrite transaction
 * @param {Run} run
 * @param {number} offset
 * @param {Uint8Array} bytes
 */
export async function writeRun(store, run, offset, bytes) {
  const end = offset + bytes.length;
  for (let index = Math.floor(offset / run.pieceBytes); index * run.pieceBytes < end; index += 1) {
    const start = index * run.pieceBytes;
    const length = Math.min(run.pieceBytes, run.size - start);
    const from = Math.max(offset, start);
    const to = Math.min(end, start + length);
    const key = [run.digest, run.part, index];
    const fresh = bytes.subarray(from - offset, to - offset);
    // A view would be stored with the whole buffer behind it.
    if (fresh.length === length) store.put(fresh.slice(), key);
    else await patch(store, key, length, from - start, fresh);
  }
}

/**
 * @param {IDBObjectStore} store
 * @param {IDBValidKey} key
 * @param {number} length
 * @param {number} at
 * @param {Uint8Array} bytes
 */
async function patch(store, key, length, at, bytes) {
  const piece = (await promised(store.get(key))) ?? new Uint8Array(length);
  piece.set(bytes, at);
  store.put(piece, key);
}

/**
 * @param {IDBDatabase} database
 * @param {Run} run
 * @param {number} offset
 * @param {Uint8Array} into
 */
export async function readRun(database, run, offset, into) {
  const end = offset + into.length;
  const batch = Math.max(1, Math.floor(BATCH_BYTES / run.pieceBytes));
  for (let index = Math.floor(offset / run.pieceBytes); index * run.pieceBytes < end; index += batch) {
    const last = Math.min(index + batch, Math.ceil(end / run.pieceBytes)) - 1;
    const store = database.transaction('pieces').objectStore('pieces');
    const pieces = await promised(store.getAll(keysOf(run, index, last)));
    if (pieces.length !== last - index + 1) throw missing();
    pieces.forEach((piece, nth) => {
      checkPiece(run, index + nth, piece);
      copyOverlap(piece, (index + nth) * run.pieceBytes - offset, into);
      letGo(piece);
    });
  }
}

/**
 * Throws where a record is not there or has another length: a tab that was frozen while another one deleted
 * and stored the model again finds records of another size.
 * @param {Run} run @param {number} index @param {Uint8Array | undefined} piece
 */
export function checkPiece(run, index, piece) {
  if (piece?.length !== Math.min(run.pieceBytes, run.size - index * run.pieceBytes)) throw missing();
}

/**
 * Gives a record's memory back now, where a browser can: engines let tens of megabytes of what nobody uses
 * any more pile up.
 * @param {Uint8Array} piece
 */
export function letGo(piece) {
  const buffer = /** @type {ArrayBuffer & {transfer?: (length: number) => ArrayBuffer}} */ (piece.buffer);
  buffer.transfer?.(0);
}

/**
 * @param {Uint8Array} piece
 * @param {number} at where it begins in `into`; may be negative
 * @param {Uint8Array} into
 */
function copyOverlap(piece, at, into) {
  const from = Math.max(0, -at);
  const to = Math.min(piece.length, into.length - at);
  into.set(piece.subarray(from, to), at + from);
}

export function missing() {
  return new StoreFailed('a part of the model is missing');
}
