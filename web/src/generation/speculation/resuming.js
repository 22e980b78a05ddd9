// Finding the place in a text that a reply copies, also behind a difference.

/** @typedef {import('./drafts.js').Tokens} Tokens */
/** @typedef {{match: number, tokens: number[]}} Found */

// A match of so many tokens says which place is being copied.
const PLAIN = 4;
// Tokens for which the place is remembered after such a match: a step's draft, then a difference.
const REMEMBERED = 32;
// How far the copy may have moved by what was put in or left out.
const MOVED = 8;

/**
 * The place in a text that the reply copies. Where the last tokens match nothing, the reply has left its text for a few
 * tokens. It is then thought to come back near the place where it would be without the difference.
 */
export class Resuming {
  /** @param {import('./ngrams.js').Ngrams} text */
  constructor(text) {
    this._text = text;
    /** A place, and the length of the chat that came there. @type {{at: number, length: number} | null} */
    this._place = null;
  }

  /** The chat of so many tokens goes on at the position `at`. @param {number} at @param {number} length */
  comeTo(at, length) {
    this._place = { at, length };
  }

  /**
   * How many tokens match, and at most `most` that follow, none where nothing is found.
   * @param {Tokens} tail the last tokens of the chat @param {number} length of the chat @param {number} most
   * @returns {Found}
   */
  draft(tail, length, most) {
    const plain = this._text.found(tail, PLAIN);
    if (plain.positions.length) {
      const { at, tokens } = this._text.continued(plain.positions, most);
      this.comeTo(at, length);
      return { match: plain.match, tokens };
    }
    const near = this._near(tail, length);
    if (near !== null) return { match: this._text.agreeing(near, tail), tokens: this._text.continued([near], most).tokens };
    const short = this._text.found(tail, 2, 2);
    if (short.positions.length) return { match: short.match, tokens: this._text.continued(short.positions, most).tokens };
    const expected = this._expected(length);
    return { match: 0, tokens: expected === null ? [] : this._text.continued([expected], most).tokens };
  }

  /** @param {number} length @returns {number | null} */
  _expected(length) {
    if (this._place === null) return null;
    const since = length - this._place.length;
    if (since < 0 || since > REMEMBERED) return null;
    const at = this._place.at + since;
    return at < this._text.length ? at : null;
  }

  /**
   * The position nearest to the expected one that follows the same last token.
   * @param {Tokens} tail @param {number} length @returns {number | null}
   */
  _near(tail, length) {
    const expected = this._expected(length);
    if (expected === null || tail.length === 0) return null;
    const last = tail[tail.length - 1];
    for (let away = 0; away <= MOVED; away++) {
      for (const at of [expected + away, expected - away]) {
        if (at > 0 && at < this._text.length && this._text.tokens.at(at - 1) === last) return at;
      }
    }
    return null;
  }
}
