// Token ids to the pieces of text that they are, each with the tokens that it came from.

/**
 * `text` of the tokens `start` to `stop` (exclusive). A control token has no text of its own: it is
 * written as in the tokenizer's file.
 * @typedef {{text: string, start: number, stop: number, control: boolean}} Piece
 */
/**
 * What this needs of a tokenizer.
 * @typedef {object} Tokens
 * @property {(skipSpecialTokens: boolean) => {push: (id: number) => string, flush: () => string}} stream
 * @property {(id: number) => string | null} control the text of a control token, null for others
 */

/** Pieces in order: together every token once, and without the control tokens exactly the decoded text. */
export class Pieces {
  /** @param {Tokens} tokenizer */
  constructor(tokenizer) {
    this._tokenizer = tokenizer;
    this._stream = tokenizer.stream(true);
    this._next = 0;
    this._start = 0;
  }

  /**
   * The piece that a token completes: itself, or the few that share a character.
   * @param {number} id
   * @returns {Piece | null} null: the beginning of a character
   */
  push(id) {
    const text = this._stream.push(id);
    const alone = this._start === this._next;
    this._next += 1;
    if (text) return this._piece(text, false);
    const control = this._tokenizer.control(id);
    return alone && control !== null ? this._piece(control, true) : null;
  }

  /** What is still held back, as replacement characters; null: nothing is. @returns {Piece | null} */
  flush() {
    const rest = this._stream.flush();
    return this._start < this._next ? this._piece(rest, false) : null;
  }

  /** @param {string} text @param {boolean} control @returns {Piece} */
  _piece(text, control) {
    const start = this._start;
    this._start = this._next;
    return { text, start, stop: this._next, control };
  }
}
