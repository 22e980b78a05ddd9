// One browser's records and chats with noise in it, over a small table.
import { IDBFactory, IDBKeyRange } from 'fake-indexeddb';
import { Account } from '../../src/noise/ledger/account.js';
import { NoisedConversation } from '../../src/noise/conversation.js';
import { NoiseDatabase } from '../../src/noise/database.js';
import { KeptChat } from '../../src/noise/kept_chat.js';
import { Ledger } from '../../src/noise/ledger/ledger.js';
import { RowMechanism } from '../../src/noise/mechanism/mechanism.js';
import { Budget } from '../../src/noise/ledger/spent.js';
import { KEY, MODEL } from './vectors.js';

Object.assign(globalThis, { IDBKeyRange });

export const WIDTH = 4;
export const NUMBERS = { sigma: 2, clip: 3, sensitivity: 6, width: WIDTH };
/** What 64 rows and 16 bytes cost. */
export const HOLDER = { identity: 'default', model: MODEL };

/** @param {number[]} ids */
export const clean = async (ids) => Float32Array.from(ids.flatMap((id) => [id, 1, -id, 2]));

/** A visit of the page; visits with the same `factory` follow each other or are tabs. */
export class Device {
  /** @param {{factory?: IDBFactory, budget?: number | null, sigma?: number}} [options] */
  constructor({ factory = new IDBFactory(), budget = null, sigma = NUMBERS.sigma } = {}) {
    this.factory = factory;
    this.database = new NoiseDatabase({ factory: /** @type {any} */ (factory), patience: 2000 });
    this.ledger = new Ledger(this.database);
    this.mechanism = new RowMechanism({ ...NUMBERS, sigma });
    this.budget = budget === null ? null : new Budget(budget, 1e-5);
    const { distance, width } = this.mechanism;
    this.kind = { sigma, distance, width };
  }

  /** @param {string} [chat] its id */
  async conversation(chat = 'chat') {
    const { ledger, mechanism, kind, budget } = this;
    const account = new Account({ ledger, ...HOLDER, kind, budget });
    const kept = await KeptChat.open(this.database, chat);
    return new NoisedConversation({ mechanism, clean, model: MODEL, account, kept });
  }

  /** What the ledger counts. */
  async counted() {
    return (await this.ledger.spent(HOLDER.identity)).rows;
  }

  /**
   * @param {'ledger' | 'chats' | 'releases' | 'tables'} store @param {IDBValidKey} key
   * @param {(value: any) => any} change
   */
  async alter(store, key, change) {
    await this.database.run('readwrite', async (stores) => {
      const value = await new Promise((resolve) => {
        const request = stores(store).get(key);
        request.onsuccess = () => resolve(request.result);
      });
      const next = change(value);
      if (next === undefined) stores(store).delete(key);
      else stores(store).put(next, key);
    });
  }

  /** The chat's key from now on. @param {string} [chat] @param {Uint8Array} [key] */
  async useKey(chat = 'chat', key = KEY) {
    await KeptChat.open(this.database, chat);
    await this.alter('chats', chat, (record) => ({ ...record, key }));
  }
}
