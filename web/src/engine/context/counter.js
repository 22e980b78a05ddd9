// Tokens of texts, by the model's own tokenizer.

// As many as a chat has messages.
const MOST_TEXTS = 20_000;
const MOST_CHARACTERS = 8 << 20;
// Of a token in English, about.
const PER_TOKEN = 4;
// A reply's next token does not wait longer than this for what is counted.
const SLICE_MS = 8;

/** @typedef {{encode: (text: string) => number[]}} Encoder */

/** A text that was counted lately is not counted again. */
export class TokenCounter {
  /**
   * @param {Encoder} tokenizer
   * @param {{now?: () => number, breathe?: () => Promise<void>}} [options] breathe: lets messages of others come in
   */
  constructor(tokenizer, { now = () => performance.now(), breathe = nextTurn } = {}) {
    this._tokenizer = tokenizer;
    this._now = now;
    this._breathe = breathe;
    /** The one that was asked for last comes last. @type {Map<string, number>} */
    this._known = new Map();
    this._characters = 0;
  }

  /** @param {string} text @returns {number} throws as the tokenizer */
  of(text) {
    if (!text) return 0;
    const known = this._known.get(text);
    if (known !== undefined) this._known.delete(text);
    const tokens = known ?? this._tokenizer.encode(text).length;
    if (known === undefined) this._characters += text.length;
    this._known.set(text, tokens);
    this._forget();
    return tokens;
  }

  /**
   * Of each text in turn, in slices; about, where one is longer than `longest` characters, and where there are more of
   * them than can be remembered, as each count would begin anew.
   * @param {readonly string[]} texts @param {number} longest @returns {Promise<number[]>}
   */
  async each(texts, longest) {
    if (texts.length > MOST_TEXTS || lengthOf(texts) > MOST_CHARACTERS) return texts.map(about);
    const counts = [];
    let since = this._now();
    for (const text of texts) {
      counts.push(text.length > longest ? about(text) : this.of(text));
      if (this._now() - since < SLICE_MS) continue;
      await this._breathe();
      since = this._now();
    }
    return counts;
  }

  _forget() {
    while (this._known.size > MOST_TEXTS || (this._characters > MOST_CHARACTERS && this._known.size > 1)) {
      const [oldest] = this._known.keys();
      this._known.delete(oldest);
      this._characters -= oldest.length;
    }
  }
}

/** How many tokens a text has, about. @param {string} text */
export function about(text) {
  return Math.ceil(text.length / PER_TOKEN);
}

/** @param {readonly string[]} texts */
function lengthOf(texts) {
  return texts.reduce((sum, { length }) => sum + length, 0);
}

/** @returns {Promise<void>} */
function nextTurn() {
  return new Promise((resolve) => setTimeout(resolve));
}
