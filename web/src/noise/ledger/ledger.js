// The record of what noise has cost, across chats, models, tabs and visits.
//
// Every change is one read, check and write in a transaction of its own, and is on the disk before the rows
// that it is for may leave. A record that cannot be trusted is an error and stays as it is.
import { asked } from '../database.js';
import { BudgetExhausted, LedgerDamaged } from '../errors.js';
import { accountsIn, documentOf } from './document.js';
import { Spent } from './spent.js';

/** @typedef {import('../database.js').NoiseDatabase} NoiseDatabase */
/** @typedef {import('../database.js').Stores} Stores */
/** @typedef {import('./spent.js').Kind} Kind */
/** @typedef {import('./spent.js').Count} Count */
/** @typedef {import('./spent.js').Budget} Budget */
/**
 * Whose losses are added up, and those of which model. @typedef {{identity: string, model: string}} Holder
 */
/** What is written in the same transaction, for rows that were counted or (below 0) given back.
 * @typedef {(stores: Stores, count: Count) => Promise<void>} Beside */

const KEY = 'ledger';

export class Ledger {
  /** @param {NoiseDatabase} database */
  constructor(database) {
    this._database = database;
    this._existed = false;
  }

  /** With all models. @param {string} identity @returns {Promise<Spent>} throws the ledger's errors */
  async spent(identity) {
    const accounts = await this._database.run('readonly', (stores) => this._read(stores));
    return totalOf(accounts.get(identity));
  }

  /**
   * Records `count` and up to `ahead` further rows. All or nothing of `count`.
   * @param {Holder} holder @param {Kind} kind @param {Count} count
   * @param {{ahead: number, budget: Budget | null, beside: Beside}} also
   * @returns {Promise<number>} how many rows ahead; all is durable when this resolves
   * @throws {BudgetExhausted} where it does not fit into what all models together have left
   * @throws {import('../../common/errors.js').AppError} the ledger's errors
   */
  async charge({ identity, model }, kind, count, { ahead, budget, beside }) {
    return this._change(async (accounts, stores) => {
      const models = accounts.get(identity) ?? new Map();
      accounts.set(identity, models);
      const granted = budget === null ? ahead : roomAhead(budget, totalOf(models), kind, count, ahead);
      const total = { rows: count.rows + granted, sendings: count.sendings };
      models.set(model, (models.get(model) ?? new Spent()).plus(kind, total));
      await beside(stores, total);
      return granted;
    });
  }

  /**
   * Takes back rows that were recorded ahead and never sent.
   * @param {Holder} holder @param {Kind} kind @param {number} rows @param {Beside} beside
   */
  async giveBack({ identity, model }, kind, rows, beside) {
    await this._change(async (accounts, stores) => {
      const models = accounts.get(identity);
      const held = models?.get(model);
      if (!models || !held || held.rowsOf(kind) < rows) {
        throw new LedgerDamaged('it counts fewer rows than were recorded');
      }
      models.set(model, held.plus(kind, { rows: -rows }));
      await beside(stores, { rows: -rows, sendings: 0 });
    });
  }

  /**
   * @template T
   * @param {(accounts: import('./document.js').Accounts, stores: Stores) => Promise<T>} work
   * @returns {Promise<T>}
   */
  async _change(work) {
    const result = await this._database.run('readwrite', async (stores) => {
      const accounts = await this._read(stores);
      const done = await work(accounts, stores);
      stores('ledger').put(documentOf(accounts), KEY);
      return done;
    });
    this._existed = true;
    return result;
  }

  /** @param {Stores} stores */
  async _read(stores) {
    const accounts = accountsIn(await asked(stores('ledger').get(KEY)));
    if (accounts === null && this._existed) throw new LedgerDamaged('it has disappeared');
    this._existed ||= accounts !== null;
    return accounts ?? new Map();
  }
}

/** @param {Map<string, Spent> | undefined} models @returns {Spent} */
function totalOf(models) {
  return Spent.total([...(models?.values() ?? [])].flatMap(({ entries }) => entries));
}

/**
 * How many of the rows ahead the budget has room for besides `count`.
 * @param {Budget} budget @param {Spent} spent @param {Kind} kind @param {Count} count @param {number} ahead
 */
function roomAhead(budget, spent, kind, { rows }, ahead) {
  const room = budget.room(spent, kind, rows + ahead);
  if (room >= rows) return room - rows;
  const { epsilon, delta } = budget;
  throw new BudgetExhausted({ budget: epsilon, spent: spent.epsilon(delta), delta, rows, room });
}
