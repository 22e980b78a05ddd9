// How long a draft is worth its rows.
import { Acceptance } from './acceptance.js';
import { StepCosts } from './costs.js';
import { Silence } from './silence.js';

/** @typedef {import('./drafts.js').Draft} Draft */
/** @typedef {import('./drafts.js').StepCost} StepCost */
/** A draft of so many tokens, and the seconds that each token is then expected to take. @typedef {{count: number, seconds: number}} Length */

// Of a token's time a draft must be expected to save that part.
const WORTH = 1 / 16;
// Below, a draft pays in bytes what it saves in time.
const LEAST_ACCEPTED = 0.1875;
// Rows for each token, over a few steps.
const MOST_ROWS = 2.1875;
const MOST_SPARE = 32;
// Kernels take rows in such sizes, and a started one costs about as much as a whole one; another size must be better by
// a part of this.
const SIZES = new Set([4, 8, 16]);
const BETTER = 1 / 32;
// A step that took much longer than it should have says something about the network alone.
const MOST_LOST = 2;
// Seconds of a step, below which a clock says nothing.
const SHORTEST = 2 ** -20;

/** As long as the expected tokens per second rise, by what steps cost and guesses were worth. */
export class AdaptiveLength {
  constructor() {
    this.costs = new StepCosts();
    this.acceptance = new Acceptance();
    this._silence = new Silence();
    // Rows that right drafts have not cost, for guesses that are less sure.
    this._spare = 0;
  }

  /** How many of the tokens of `draft` to send; 0: none of them pay. @param {Draft} draft @returns {Length} */
  choose(draft) {
    const plain = this.costs.step;
    const chance = this.acceptance.first(draft.source, draft.match);
    const none = { count: 0, seconds: plain };
    if (chance < LEAST_ACCEPTED || !this.costs.known) return none;
    const best = this._best(draft, chance, none);
    return plain - best.seconds > WORTH * (plain + this.costs.head) ? best : none;
  }

  /** @param {Draft} draft @param {number} chance of its first token @param {Length} none */
  _best({ source, tokens }, chance, none) {
    let [best, sized] = [none, none];
    const later = this.acceptance.later(source);
    let expected = 1;
    for (let count = 1; count <= tokens.length; count++) {
      expected += chance;
      chance *= later;
      if (count + 1 > MOST_ROWS * expected + this._spare) continue;
      const seconds = this.costs.of(count + 1) / expected;
      if (seconds < best.seconds) best = { count, seconds };
      if (SIZES.has(count + 1) && seconds < sized.seconds) sized = { count, seconds };
    }
    return sized.count && sized.seconds <= best.seconds * (1 + BETTER) ? sized : best;
  }

  /** Whether `source` may speak this time; asked once a step. @param {string} source */
  asked(source) {
    return this._silence.asked(source);
  }

  /** A step ended, with or without a draft. @param {StepCost} cost */
  stepped(cost) {
    this.costs.stepped(cost);
  }

  /** The device chose from one state. @param {number} seconds */
  head(seconds) {
    this.costs.chose(seconds);
  }

  /** What would have become of a draft that was not sent. @param {Draft} draft @param {number} right @param {boolean} wrong */
  seen({ source, match }, right, wrong) {
    this.acceptance.saw(source, match, right, wrong);
  }

  /**
   * So many tokens of `draft` were chosen; `cost`: of the step that carried it.
   * @param {Draft} draft @param {number} accepted @param {StepCost | null} cost
   */
  judged({ source, tokens, match }, accepted, cost) {
    const spare = this._spare + MOST_ROWS * (accepted + 1) - (tokens.length + 1);
    this._spare = Math.min(Math.max(spare, 0), MOST_SPARE);
    this.acceptance.saw(source, match, accepted, accepted < tokens.length);
    if (cost === null) return;
    // Rows that were no draft would have been sent all the same.
    const without = this.costs.unqueued(cost.rows - tokens.length);
    const took = cost.seconds - Math.min(cost.queue, cost.seconds);
    const more = (took - without) / Math.max(this.costs.step, SHORTEST);
    this._silence.cost(source, Math.min(more, MOST_LOST) - accepted);
  }
}
