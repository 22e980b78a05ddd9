// A chat's state of noised mode in this browser: its secret key, the dtype that its rows travel in, what
// they cost, and which rows were released, so that the same rows cost nothing when they are sent again.
//
// A released row is 16 bytes, which name it and tell nothing without the key. Names that are lost make rows
// count twice, never too little: they are written with or after what the ledger counts. Nothing of this is
// in an exported chat, which gets another key where it is imported.
import { bytesToHex } from '@noble/hashes/utils.js';
import { asked } from './database.js';
import { LedgerDamaged, LedgerFailed, NoiseDtypeChanged } from './errors.js';
import { spentIn } from './ledger/document.js';
import { KEY_BYTES } from './mechanism/prf.js';
import { Spent } from './ledger/spent.js';

/** @typedef {import('./database.js').NoiseDatabase} NoiseDatabase */
/** @typedef {import('./database.js').Stores} Stores */
/** @typedef {import('../../types/gatelink').DType} DType */
/**
 * `blocks`: how many runs of names are kept; `used`: milliseconds since 1970.
 * @typedef {{key: Uint8Array, dtype: DType | null, spent: import('./ledger/spent.js').Entry[], blocks: number,
 *   used: number}} ChatRecord
 */

const NAME_BYTES = 16;
// Beyond these, what was released counts again when it is sent again.
const MOST_NAMES = 1 << 18;
// As many as chats are kept; the one that was used longest ago loses its key.
const MOST_CHATS = 10_000;

export class KeptChat {
  /**
   * @param {NoiseDatabase} database @param {string} chat @param {ChatRecord} record
   * @param {Set<string>} names
   */
  constructor(database, chat, record, names) {
    this._database = database;
    this._chat = chat;
    this._names = names;
    /** Sent since the last time that names were written. @type {Uint8Array[]} */
    this._unwritten = [];
    /** What holds once the transaction is over. @type {{dtype: DType | null, spent: Spent}} */
    this._written = { dtype: record.dtype, spent: new Spent(record.spent) };
    this.key = record.key;
    this.dtype = record.dtype;
    /** With what is recorded ahead. */
    this.spent = new Spent(record.spent);
  }

  /**
   * What is kept of a chat; a new key where there is none.
   * @param {NoiseDatabase} database @param {string} chat its id
   * @param {() => number} [now] milliseconds since 1970
   * @throws {LedgerDamaged | LedgerFailed}
   */
  static async open(database, chat, now = Date.now) {
    return database.run('readwrite', async (stores) => {
      const known = checked(await asked(stores('chats').get(chat)));
      if (known === null) await makeRoom(stores);
      const record = { ...(known ?? fresh()), used: now() };
      stores('chats').put(record, chat);
      const blocks = await asked(stores('releases').getAll(rangeOf(chat)));
      return new KeptChat(database, chat, record, namesIn(blocks));
    });
  }

  /**
   * What a chat has cost so far.
   * @param {NoiseDatabase} database @param {string} chat @returns {Promise<Spent>}
   */
  static async spentBy(database, chat) {
    const read = (/** @type {Stores} */ stores) => asked(stores('chats').get(chat));
    const record = checked(await database.run('readonly', read));
    return new Spent(record?.spent ?? []);
  }

  /** Deletes a chat's key and all that goes with it. @param {NoiseDatabase} database @param {string} chat */
  static async forget(database, chat) {
    await database.run('readwrite', async (stores) => forgetIn(stores, chat));
  }

  /** Whether a row was released. @param {Uint8Array} name */
  has(name) {
    return this._names.has(bytesToHex(name));
  }

  /** Rows that are counted and about to be sent. @param {Uint8Array[]} names @param {boolean} written */
  add(names, written) {
    if (this._names.size + names.length > MOST_NAMES) this._names.clear();
    for (const name of names) this._names.add(bytesToHex(name));
    if (written) this.written();
    else this._unwritten.push(...names);
  }

  /** The transaction of `record` is over. */
  written() {
    Object.assign(this, this._written);
    this._unwritten = [];
  }

  /**
   * Writes what the ledger counts in the same transaction; call `written` once it is over.
   * @param {Stores} stores
   * @param {{dtype: DType | null, kind: import('./ledger/spent.js').Kind, count: import('./ledger/spent.js').Count,
   *   names: Uint8Array[]}} counted `names`: besides those that were not written yet
   * @throws {NoiseDtypeChanged} where another tab has sent rows in another dtype
   */
  async record(stores, { dtype, kind, count, names }) {
    const record = checked(await asked(stores('chats').get(this._chat)));
    if (record === null || bytesToHex(record.key) !== bytesToHex(this.key)) {
      throw new LedgerFailed('the key of this chat was deleted meanwhile');
    }
    if (record.dtype !== null && dtype !== null && record.dtype !== dtype) {
      throw new NoiseDtypeChanged(record.dtype, dtype);
    }
    const spent = new Spent(record.spent).plus(kind, count);
    const written = [...this._unwritten, ...names];
    if (this._names.size + names.length > MOST_NAMES) stores('releases').delete(rangeOf(this._chat));
    if (written.length) stores('releases').put(joined(written), [this._chat, record.blocks]);
    const blocks = record.blocks + (written.length ? 1 : 0);
    const next = { ...record, dtype: record.dtype ?? dtype, spent: spent.entries, blocks };
    stores('chats').put(next, this._chat);
    this._written = { dtype: record.dtype ?? dtype, spent };
  }

  /** Writes the names of rows that were sent, where nothing else is to be written.
   * @param {import('./ledger/spent.js').Kind} kind */
  async flush(kind) {
    if (!this._unwritten.length) return;
    const nothing = { dtype: null, kind, count: { rows: 0, sendings: 0 }, names: [] };
    await this._database.run('readwrite', (stores) => this.record(stores, nothing));
    this.written();
  }
}

/** @returns {ChatRecord} */
function fresh() {
  const key = crypto.getRandomValues(new Uint8Array(KEY_BYTES));
  return { key, dtype: null, spent: [], blocks: 0, used: 0 };
}

/** @param {unknown} stored undefined: there is none @returns {ChatRecord | null} @throws {LedgerDamaged} */
function checked(stored) {
  if (stored === undefined) return null;
  const record = /** @type {ChatRecord} */ (Object(stored));
  try {
    const isKey = record.key instanceof Uint8Array && record.key.length === KEY_BYTES;
    if (!isKey || !Number.isSafeInteger(record.blocks)) throw new TypeError('record');
    return { ...record, dtype: record.dtype ?? null, spent: [...spentIn(record.spent).entries] };
  } catch {
    throw new LedgerDamaged('what it keeps of this chat is not as it should be');
  }
}

/** @param {Stores} stores */
async function makeRoom(stores) {
  if ((await asked(stores('chats').count())) < MOST_CHATS) return;
  const reading = [asked(stores('chats').getAllKeys()), asked(stores('chats').getAll())];
  const [ids, records] = /** @type {[IDBValidKey[], ChatRecord[]]} */ (await Promise.all(reading));
  const oldest = records.reduce((best, { used }, i) => (used < records[best].used ? i : best), 0);
  forgetIn(stores, String(ids[oldest]));
}

/** @param {Stores} stores @param {string} chat */
function forgetIn(stores, chat) {
  stores('chats').delete(chat);
  stores('releases').delete(rangeOf(chat));
}

/** All keys of a chat's names. @param {string} chat */
function rangeOf(chat) {
  return IDBKeyRange.bound([chat, 0], [chat, Infinity]);
}

/** @param {unknown[]} blocks @returns {Set<string>} */
function namesIn(blocks) {
  /** @type {Set<string>} */
  const names = new Set();
  for (const block of blocks) {
    if (!(block instanceof Uint8Array)) continue;
    for (let at = 0; at + NAME_BYTES <= block.length && names.size < MOST_NAMES; at += NAME_BYTES) {
      names.add(bytesToHex(block.subarray(at, at + NAME_BYTES)));
    }
  }
  return names;
}

/** @param {Uint8Array[]} names */
function joined(names) {
  const bytes = new Uint8Array(names.length * NAME_BYTES);
  names.forEach((name, i) => bytes.set(name, i * NAME_BYTES));
  return bytes;
}
