// Guesses from earlier replies, found by the tokens that preceded.
import { LONGEST, Ngrams } from './ngrams.js';

/** @typedef {import('./drafts.js').Tokens} Tokens */
/** @typedef {import('./drafts.js').Draft} Draft */

// Of the indices, for every token.
const BYTES_OF_A_TOKEN = 16;
// Stands between replies, and matches nothing.
const BETWEEN = -1;
const MOST_BYTES = 8 * 2 ** 20;

/**
 * Earlier replies, each behind the end of its prompt, in so many bytes. They fill two halves in turn, and the older half
 * goes when the newer one is full. A reply that used one of them has its tokens in the newer half, so what goes was
 * used longest ago.
 */
export class Memo {
  /** @param {number} [mostBytes] */
  constructor(mostBytes = MOST_BYTES) {
    this.name = 'memo';
    this._most = Math.floor(mostBytes / (2 * BYTES_OF_A_TOKEN));
    this._newer = new Ngrams();
    this._older = new Ngrams();
    /** @type {Tokens} */
    this._tail = [];
  }

  /** Tokens that are held. */
  get length() {
    return this._newer.length + this._older.length;
  }

  /** As `DraftSource.follow`. @param {Tokens} tokens */
  follow(tokens) {
    this._tail = tokens.slice(-LONGEST);
  }

  /** As `DraftSource.draft`. @param {number} most @returns {Draft | null} */
  draft(most) {
    /** @type {Draft | null} */
    let best = null;
    for (const text of [this._newer, this._older]) {
      const { match, positions } = text.found(this._tail, 2);
      if (match <= (best?.match ?? 0)) continue;
      const { tokens } = text.continued(positions, most);
      if (tokens.length) best = { source: this.name, tokens, match };
    }
    return best;
  }

  /** Hold nothing any more. */
  forget() {
    this._newer = new Ngrams();
    this._older = new Ngrams();
    this._tail = [];
  }

  /** Remember `reply`, and of `prompt` what a match may hang on. @param {Tokens} prompt @param {Tokens} reply */
  replied(prompt, reply) {
    const text = [...prompt.slice(-LONGEST), ...reply, BETWEEN].slice(-this._most);
    if (this._newer.length + text.length > this._most) [this._newer, this._older] = [new Ngrams(), this._newer];
    this._newer.extend(text);
  }
}
