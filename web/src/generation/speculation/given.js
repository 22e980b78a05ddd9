// Guesses from a text that is expected, such as the reply that stood there before.
import { LONGEST, Ngrams } from './ngrams.js';
import { Resuming } from './resuming.js';

/** @typedef {import('./drafts.js').Tokens} Tokens */

export class Given {
  /**
   * The reply is thought to begin where the chat ends that is followed first, and to be this text, but for differences.
   * @param {Tokens} tokens ids of the text
   */
  constructor(tokens) {
    this.name = 'given';
    this._text = new Ngrams();
    this._text.extend(tokens);
    this._place = new Resuming(this._text);
    /** @type {number | null} */
    this._begun = null;
    /** @type {Tokens} */
    this._tail = [];
    this._length = 0;
  }

  /** As `DraftSource.follow`. @param {Tokens} tokens */
  follow(tokens) {
    if (this._begun === null || tokens.length < this._begun) {
      this._begun = tokens.length;
      this._place.comeTo(0, this._begun);
    }
    this._length = tokens.length;
    // What stands before the reply is no part of the text.
    this._tail = tokens.slice(Math.max(this._begun, tokens.length - LONGEST));
  }

  /** As `DraftSource.draft`. @param {number} most @returns {import('./drafts.js').Draft | null} */
  draft(most) {
    const { match, tokens } = this._place.draft(this._tail, this._length, most);
    return tokens.length ? { source: this.name, tokens, match } : null;
  }
}
