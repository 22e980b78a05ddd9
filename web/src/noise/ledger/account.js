// One mechanism's spending: rows are recorded before they leave, single rows a few ahead.
//
// Writing the ledger waits for the disk. So the rows of a reply, which come one by one, are recorded in
// advance, and what was not sent is given back at its end. A page that is closed before leaves them
// recorded: the ledger then counts more than was sent, never less.
/** @typedef {import('./ledger.js').Beside} Beside */
/** @typedef {import('./spent.js').Count} Count */
/** @typedef {import('./spent.js').Spent} Spent */

export const ROWS_AHEAD = 64;

export class Account {
  /**
   * @param {{ledger: import('./ledger.js').Ledger, identity: string, model: string,
   *   kind: import('./spent.js').Kind, budget: import('./spent.js').Budget | null}} about
   */
  constructor({ ledger, identity, model, kind, budget }) {
    this._ledger = ledger;
    this._holder = { identity, model };
    this.kind = kind;
    this.budget = budget;
    /** Rows that are recorded and not sent yet. */
    this.ahead = 0;
  }

  /**
   * Records `count`, durably, before it is sent; nothing may be sent where this throws.
   * @param {Count} count @param {Beside} beside written with it, where something is written
   * @returns {Promise<boolean>} whether something was written
   * @throws {import('../errors.js').BudgetExhausted | import('../../common/errors.js').AppError} the latter: the
   * ledger's errors
   */
  async spend(count, beside) {
    if (count.sendings === 0 && count.rows <= this.ahead) {
      this.ahead -= count.rows;
      return false;
    }
    // What is ahead pays for its part, so that a budget's last rows can be used.
    const paid = Math.min(this.ahead, count.rows);
    const needed = { rows: count.rows - paid, sendings: count.sendings };
    this.ahead -= paid;
    const ahead = count.rows === 1 ? Math.max(0, ROWS_AHEAD - this.ahead) : 0;
    try {
      const also = { ahead, budget: this.budget, beside };
      // Read after the wait, in which a reply may have ended.
      const granted = await this._ledger.charge(this._holder, this.kind, needed, also);
      this.ahead += granted;
    } catch (error) {
      this.ahead += paid;
      throw error;
    }
    return true;
  }

  /**
   * With all models, without what is recorded ahead here.
   * @returns {Promise<Spent>} throws the ledger's errors
   */
  async spent() {
    const spent = await this._ledger.spent(this._holder.identity);
    return this.ahead ? spent.plus(this.kind, { rows: -this.ahead }) : spent;
  }

  /**
   * Gives back what was recorded ahead; may be called twice.
   * @param {Beside} beside @returns {Promise<boolean>} whether something was written
   */
  async close(beside) {
    const { ahead } = this;
    this.ahead = 0;
    if (ahead) await this._ledger.giveBack(this._holder, this.kind, ahead, beside);
    return ahead > 0;
  }
}
