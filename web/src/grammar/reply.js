// The form of one reply: which tokens may come next, and which must.
import { FormUnwritable } from './errors.js';
import { bodyOf } from './language/expressions.js';
import { Forced } from './tokens/forced.js';
import { Masks } from './tokens/masks.js';

/** @typedef {import('./language/expressions.js').Expression} Expression */
/** @typedef {import('./form.js').Language} Language */

// Parts of a form that are looked at ahead.
const MAX_WARMED = 500;

/** What replies of one form share. */
export class FormFollower {
  /**
   * @param {import('./tokens/trie.js').TokenTree} tree @param {Language} language
   * @param {{eos: number[], encode: import('./tokens/forced.js').Encode, strips?: boolean}} about
   *   strips: a reply's first space is not shown
   */
  constructor(tree, language, { eos, encode, strips = false }) {
    this._tree = tree;
    this._x = language.expressions;
    this._eos = eos.filter((token) => token < tree.rows);
    this._masks = new Masks(tree, language);
    this._forced = new Forced(tree, language.expressions, encode);
    /**
     * The latest mask, which is asked for more than once.
     * @type {{of: Expression, remaining: number, mask: Uint8Array} | null}
     */
    this._latest = null;
    this.start = strips ? language.expressions.stripped(language.start) : language.start;
  }

  /** Looks ahead at what takes long the first time: the inside of strings, and what else lets most tokens through. */
  warm() {
    const seen = new Set([this.start]);
    for (const of of seen) {
      if (of.kind === 'repeat') this._masks.warm(of);
      if (of.kind === 'ref') seen.add(bodyOf(of));
      for (const part of of.parts) seen.add(part);
      if (seen.size > MAX_WARMED) return;
    }
  }

  /** Nothing may follow. @param {Expression} of */
  isFinished(of) {
    return of === this._x.empty;
  }

  /**
   * The tokens that may come next, of which the reply can have `remaining`: those after which it can end whole, or
   * where none can all that the form allows.
   * @param {Expression} of @param {number} remaining
   * @returns {Promise<Uint8Array>} mask [rows] throws FormUnwritable
   */
  async allowed(of, remaining) {
    const forced = await this._must(of, remaining);
    const latest = this._latest;
    if (latest?.of === of && latest.remaining === remaining) return latest.mask;
    const mask = new Uint8Array(this._tree.rows);
    if (forced !== null) mask[forced] = 1;
    else this._choices(of, remaining, mask);
    this._latest = { of, remaining, mask };
    return mask;
  }

  /** @param {Expression} of @param {number} remaining @param {Uint8Array} mask */
  _choices(of, remaining, mask) {
    this._masks.allow(of, remaining - 1, mask);
    if (of.nullable) for (const token of this._eos) mask[token] = 1;
    if (!mask.includes(1)) this._masks.allow(of, Infinity, mask);
    if (!mask.includes(1)) throw new FormUnwritable();
  }

  /** What follows a token that was allowed. @param {Expression} of @param {number} token */
  after(of, token) {
    if (of.nullable && this._eos.includes(token)) return this._x.empty;
    return this._masks.after(of, token);
  }

  /** The tokens that come next whatever is chosen. @param {Expression} of @param {number} remaining */
  async forced(of, remaining) {
    const tokens = [];
    while (tokens.length < remaining && !this.isFinished(of)) {
      const token = await this._only(of, remaining - tokens.length);
      if (token === null) break;
      tokens.push(token);
      of = this.after(of, token);
    }
    return tokens;
  }

  /**
   * How many of the first of `tokens` are allowed one after the other.
   * @param {Expression} of @param {readonly number[]} tokens @param {number} remaining
   */
  async permitted(of, tokens, remaining) {
    let count = 0;
    for (const token of tokens.slice(0, remaining)) {
      if (this.isFinished(of) || !(await this._permits(of, token, remaining - count))) break;
      of = this.after(of, token);
      count += 1;
    }
    return count;
  }

  /** @param {Expression} of @param {number} token @param {number} remaining */
  async _permits(of, token, remaining) {
    const must = await this._must(of, remaining);
    if (must !== null) return must === token;
    if (of.nullable && this._eos.includes(token)) return true;
    const next = this._masks.after(of, token);
    if (next === this._x.never) return false;
    return this._masks.fits(next, remaining - 1) || (await this.allowed(of, remaining))[token] === 1;
  }

  /** The only token of the mask. @param {Expression} of @param {number} remaining */
  async _only(of, remaining) {
    const must = await this._must(of, remaining);
    if (must !== null) return must;
    const mask = await this.allowed(of, remaining);
    const first = mask.indexOf(1);
    return mask.indexOf(1, first + 1) === -1 ? first : null;
  }

  /**
   * Of text that is certain; near the end not where others end the reply sooner.
   * @param {Expression} of @param {number} remaining
   */
  async _must(of, remaining) {
    const token = await this._forced.token(of);
    if (token === null) return null;
    return this._masks.fits(this._masks.after(of, token), remaining - 1) ? token : null;
  }
}
