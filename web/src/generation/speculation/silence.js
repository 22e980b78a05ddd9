// A source whose drafts lose time is not asked for a while, and for twice as long the next time.

// In steps of one row: what may be lost before, and what gains are remembered.
const MAY_LOSE = 1.5;
const MAY_GAIN = 4;
const FIRST_PAUSE = 32;
const LONGEST_PAUSE = 2048;

/** What the drafts of each source have cost, counted in steps of one row. */
export class Silence {
  constructor() {
    /** @type {Map<string, {lost: number, left: number, pause: number}>} */
    this._accounts = new Map();
  }

  /** Whether `source` may speak; one turn of its silence is over. @param {string} source */
  asked(source) {
    const account = this._of(source);
    if (account.left === 0) return true;
    account.left -= 1;
    return false;
  }

  /**
   * A draft took as long as so many steps more than its tokens saved; negative: it gained.
   * @param {string} source @param {number} steps
   */
  cost(source, steps) {
    const account = this._of(source);
    account.lost = Math.max(account.lost + steps, -MAY_GAIN);
    if (account.lost > MAY_LOSE) {
      account.left = account.pause;
      account.lost = 0;
      account.pause = Math.min(2 * account.pause, LONGEST_PAUSE);
    } else if (account.lost === -MAY_GAIN) {
      account.pause = FIRST_PAUSE;
    }
  }

  /** @param {string} source */
  _of(source) {
    const account = this._accounts.get(source) ?? { lost: 0, left: 0, pause: FIRST_PAUSE };
    this._accounts.set(source, account);
    return account;
  }
}
