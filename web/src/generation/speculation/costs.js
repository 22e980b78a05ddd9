// What a step costs, learned from the times of steps: one part for the step, one for each row. Only sums, products,
// quotients and comparisons decide here and in the rooms beside, in the order written, so that every language comes to
// the same numbers.

// Share of a new observation.
const GAIN = 0.125;
// Until steps of several rows have told it, a row beyond the first costs that part of a step of one; a guess that weighs
// as much as so many rows.
const FIRST_GUESS = 0.125;
const GUESSED_ROWS = 2;
const FADING = 0.875;
// Steps of several rows that tell as much as one of one row.
const ENOUGH = 8;
// One step tells at most so many times the usual cost of a row's share: a hiccup is none of a row.
const MOST_STEPS = 4;

/** Seconds, smoothed. */
export class StepCosts {
  constructor() {
    /** A step of one row, with the round trip; null before the first step. @type {number | null} */
    this.fixed = null;
    /** To choose from one state. */
    this.head = 0;
    this._queue = 0;
    this._steps = 0;
    this._single = 0;
    this._heads = 0;
    this._extra = 0;
    this._rows = 0;
  }

  /** Whether a step of one row, or many of several, have told what a step costs. */
  get known() {
    return this._single > 0 || this._steps >= ENOUGH;
  }

  /** Of each row beyond the first. */
  get row() {
    const guess = FIRST_GUESS * this.step;
    return (this._extra + guess * GUESSED_ROWS) / (this._rows + GUESSED_ROWS);
  }

  /** Of a step of one row; 1, without a meaning of its own, before the first step. */
  get step() {
    return this.fixed === null ? 1 : this.fixed + this._queue;
  }

  /** A step ended. @param {import('./drafts.js').StepCost} cost */
  stepped(cost) {
    const queue = Math.min(cost.queue, cost.seconds);
    this._steps += 1;
    const gain = Math.max(GAIN, 1 / this._steps);
    this._queue += gain * (queue - this._queue);
    const seconds = cost.seconds - queue;
    const more = cost.rows - 1;
    this.fixed ??= seconds / (1 + FIRST_GUESS * more);
    if (more === 0) {
      this._single += 1;
      this.fixed += Math.max(GAIN, 1 / this._single) * (seconds - this.fixed);
    } else if (seconds < this.fixed) this.fixed += GAIN * (seconds - this.fixed);
    if (more <= 0) return;
    const extra = Math.min(Math.max(0, seconds - this.fixed), MOST_STEPS * this.step);
    this._extra = this._extra * FADING + extra;
    this._rows = this._rows * FADING + more;
  }

  /** The device chose from one state. @param {number} seconds */
  chose(seconds) {
    this._heads += 1;
    this.head += Math.max(GAIN, 1 / this._heads) * (seconds - this.head);
  }

  /** Of a step of so many rows. @param {number} rows */
  of(rows) {
    return this.step + this.row * (rows - 1);
  }

  /** `of` without the queue. @param {number} rows */
  unqueued(rows) {
    return this.of(rows) - this._queue;
  }
}
