import { TokenIdOutOfRange } from './errors.js';

const FIRST_CAPACITY = 64;

/** Some tokens and what is known of each, in columns: place i is that of the i-th token that was entered. */
export class TokenTable {
  /** @param {number} rows token ids are 0..rows-1 */
  constructor(rows) {
    this._rows = rows;
    this.size = 0;
    /** How often it was generated. */
    this.counts = new Int32Array(FIRST_CAPACITY);
    /** 1: the repetition penalty counts it as seen. */
    this.seen = new Uint8Array(FIRST_CAPACITY);
    /** To be added to its logit. */
    this.bias = new Float64Array(FIRST_CAPACITY);
    this._tokens = new Int32Array(FIRST_CAPACITY);
    this._ids = new Int32Array(0);
    /** @type {Map<number, number>} */
    this._places = new Map();
  }

  /** The token ids; the same array as long as they are the same. */
  get ids() {
    if (this._ids.length !== this.size) this._ids = this._tokens.slice(0, this.size);
    return this._ids;
  }

  /** The place of `token`, undefined if it was not entered. @param {number} token */
  find(token) {
    return this._places.get(token);
  }

  /**
   * The place of `token`, entered now if it was not. Throws TokenIdOutOfRange.
   * @param {number} token
   */
  place(token) {
    const known = this._places.get(token);
    if (known !== undefined) return known;
    if (!(token >= 0 && token < this._rows)) throw new TokenIdOutOfRange(token, this._rows);
    if (this.size === this._tokens.length) this._grow();
    this._tokens[this.size] = token;
    this._places.set(token, this.size);
    return this.size++;
  }

  _grow() {
    const capacity = 2 * this.size;
    this.counts = grown(this.counts, new Int32Array(capacity));
    this.seen = grown(this.seen, new Uint8Array(capacity));
    this.bias = grown(this.bias, new Float64Array(capacity));
    this._tokens = grown(this._tokens, new Int32Array(capacity));
  }
}

/**
 * @template {Int32Array | Uint8Array | Float64Array} T
 * @param {ArrayLike<number>} values
 * @param {T} into
 */
function grown(values, into) {
  into.set(values);
  return into;
}
