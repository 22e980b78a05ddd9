// Sources of drafts and the length that pays, put together for one chat.
import { NO_DRAFT, firstOf } from './drafts.js';
import { Given } from './given.js';
import { AdaptiveLength } from './length.js';
import { Suffix } from './suffix.js';

/** @typedef {import('./drafts.js').Draft} Draft */
/** @typedef {import('./drafts.js').DraftSource} DraftSource */
/** @typedef {import('./drafts.js').StepCost} StepCost */
/** @typedef {import('./drafts.js').Tokens} Tokens */
/** @typedef {import('./memo.js').Memo} Memo */
/** What was guessed after `length` tokens, the last of them `last`, and the one sent.
 * @typedef {{length: number, last: number, drafts: Draft[], sent: Draft}} Guesses */

// Steps of more rows are prefills, which say little about what a row costs beside a token.
const MOST_ROWS = 64;
// Guesses that are not sent are compared with so many tokens.
const COMPARED = 16;

/** One caller at a time. Nothing here decides a token: a wrong draft costs time, and no more. */
export class Drafter {
  /**
   * @param {DraftSource[]} sources in the order in which they are preferred where they promise the same
   * @param {AdaptiveLength} length @param {Memo | null} [memo] the one among them that remembers replies
   */
  constructor(sources, length, memo = null) {
    this._sources = sources;
    this._length = length;
    this._memo = memo;
    /** @type {Given | null} */
    this._given = null;
    /** @type {Guesses | null} */
    this._guesses = null;
    /** @type {StepCost | null} */
    this._cost = null;
  }

  /** Drafts from a chat and, where there is one, from `memo`, which others may share. @param {Memo | null} memo */
  static ofChat(memo) {
    return new Drafter(memo ? [new Suffix(), memo] : [new Suffix()], new AdaptiveLength(), memo);
  }

  /** The next reply is thought to be `tokens`, but for differences; none: nothing is known of it. @param {Tokens} tokens */
  expect(tokens) {
    this._given = tokens.length ? new Given(tokens) : null;
  }

  /**
   * A guess of at most `most` tokens after `tokens`, cut to what pays and to what `permitted` says of it; empty where
   * none pays.
   * @param {Tokens} tokens @param {number} most
   * @param {((tokens: Tokens) => number | Promise<number>) | null} [permitted]
   * @returns {Promise<Draft>}
   */
  async draft(tokens, most, permitted = null) {
    this._compare(tokens);
    const drafts = this._guessed(tokens, Math.max(most, 1));
    let sent = this._best(drafts, most);
    if (sent.tokens.length && permitted) sent = firstOf(sent, await permitted(sent.tokens));
    if (!sent.tokens.length) sent = NO_DRAFT;
    this._guesses = { length: tokens.length, last: tokens[tokens.length - 1] ?? -1, drafts, sent };
    return sent;
  }

  /** A step ended, whether it carried a draft or not. @param {StepCost} cost */
  stepped(cost) {
    if (cost.rows > MOST_ROWS) return;
    this._length.stepped(cost);
    this._cost = cost;
  }

  /** Of the tokens of `draft` so many were chosen. @param {Draft} draft @param {number} accepted */
  judged(draft, accepted) {
    this._length.judged(draft, accepted, this._cost);
    this._cost = null;
  }

  /** The device chose from one state. @param {number} seconds */
  head(seconds) {
    this._length.head(seconds);
  }

  /** A reply has ended, and may be remembered. @param {Tokens} prompt @param {Tokens} reply */
  replied(prompt, reply) {
    this._guesses = null;
    this._given = null;
    this._memo?.replied(prompt, reply);
  }

  /** @param {Tokens} tokens @param {number} most */
  _guessed(tokens, most) {
    const sources = this._given ? [this._given, ...this._sources] : this._sources;
    return sources.flatMap((source) => {
      source.follow(tokens);
      return source.draft(most) ?? [];
    });
  }

  /** @param {Draft[]} drafts @param {number} most */
  _best(drafts, most) {
    let best = NO_DRAFT;
    let least = 0;
    for (const draft of drafts) {
      if (!this._length.asked(draft.source) || most < 1) continue;
      const { count, seconds } = this._length.choose(draft);
      if (count && (!best.tokens.length || seconds < least)) [best, least] = [firstOf(draft, count), seconds];
    }
    return best;
  }

  /** Learn from what was guessed and not sent. @param {Tokens} tokens */
  _compare(tokens) {
    const guesses = this._guesses;
    this._guesses = null;
    if (guesses === null || guesses.length === 0 || guesses.length >= tokens.length) return;
    if (tokens[guesses.length - 1] !== guesses.last) return;
    const chosen = tokens.slice(guesses.length, guesses.length + COMPARED);
    for (const draft of guesses.drafts) {
      if (draft.source === guesses.sent.source && draft.match === guesses.sent.match) continue;
      const compared = Math.min(chosen.length, draft.tokens.length);
      let right = 0;
      while (right < compared && draft.tokens[right] === chosen[right]) right++;
      this._length.seen(draft, right, right < compared);
    }
  }
}
