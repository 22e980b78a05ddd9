// Where a growing text had the same last tokens before. For each of the orders 8, 4 and 2 the positions that follow the
// same hash of so many tokens form a chain, newest first, as in dictionary compressors. A chain is an array of
// positions, so that the text can be cut back as it grew, and 100,000 tokens take some 2 MB.
import { Grown } from './grown.js';

/** @typedef {import('./drafts.js').Tokens} Tokens */

/** Of the longest match, beyond which matches count as equal. */
export const LONGEST = 16;
const ORDERS = [8, 4, 2];
const BUCKETS = 2 ** 15;
// Links of one chain that are looked at.
const LOOKED_AT = 64;
// Of the best matches, the newest that have a voice in what follows.
const VOICES = 16;

export class Ngrams {
  /**
   * @param {{repeats?: boolean}} [options] repeats: what follows the text is thought to be the text that was found once
   *   more, so that a guess may run beyond its end
   */
  constructor({ repeats = false } = {}) {
    this._repeats = repeats;
    this.tokens = new Grown();
    this._heads = ORDERS.map(() => new Int32Array(BUCKETS).fill(-1));
    this._chains = ORDERS.map(() => new Grown());
  }

  get length() {
    return this.tokens.length;
  }

  /** The text goes on with `token`; a negative one never matches. @param {number} token */
  append(token) {
    const at = this.tokens.length;
    const buckets = bucketsOf((index) => this.tokens.at(index), at);
    ORDERS.forEach((_, i) => {
      const bucket = buckets[i];
      this._chains[i].push(bucket < 0 ? -1 : this._heads[i][bucket]);
      if (bucket >= 0) this._heads[i][bucket] = at;
    });
    this.tokens.push(token);
  }

  /** The text goes on with `tokens`. @param {Tokens} tokens @param {number} [start] from this one on */
  extend(tokens, start = 0) {
    for (let i = start; i < tokens.length; i++) this.append(tokens[i]);
  }

  /** The text ends after its first `length` tokens. @param {number} length */
  cut(length) {
    while (this.tokens.length > length) {
      this.tokens.pop();
      const buckets = bucketsOf((index) => this.tokens.at(index), this.tokens.length);
      ORDERS.forEach((_, i) => {
        const earlier = this._chains[i].pop();
        if (buckets[i] >= 0) this._heads[i][buckets[i]] = earlier;
      });
    }
  }

  /** Its last tokens, as many as a match may have. */
  tail() {
    return this.tokens.from(Math.max(0, this.length - LONGEST));
  }

  /** How many of the tokens before the position `at` are those at the end of `tail`. @param {number} at @param {Tokens} tail */
  agreeing(at, tail) {
    const most = Math.min(tail.length, at);
    let count = 0;
    while (count < most && this.tokens.at(at - 1 - count) === tail[tail.length - 1 - count]) count++;
    return count;
  }

  /**
   * The longest match of `least` or more tokens at the end of `tail`, and the positions after it, newest first; 0 and
   * none where there is none. Orders above `below` are not asked.
   * @param {Tokens} tail @param {number} least @param {number} [below]
   * @returns {{match: number, positions: number[]}}
   */
  found(tail, least, below = LONGEST) {
    const buckets = bucketsOf((index) => tail[index], tail.length);
    for (const [i, order] of ORDERS.entries()) {
      if (order > below || order < least || buckets[i] < 0) continue;
      const best = this._best(i, buckets[i], tail);
      if (best.positions.length) return best;
    }
    return { match: 0, positions: [] };
  }

  /**
   * What followed `positions`, of which each token is the most frequent one, else the newest; and the newest position
   * that all of it followed.
   * @param {number[]} positions at least one @param {number} most
   */
  continued(positions, most) {
    let going = positions.slice(0, VOICES);
    /** @type {number[]} */
    const tokens = [];
    while (tokens.length < most) {
      const next = this._mostFrequent(going, tokens);
      if (next === null) break;
      going = next.positions;
      tokens.push(next.token);
    }
    return { at: going[0], tokens };
  }

  /** @param {number[]} positions @param {number[]} out what followed them so far */
  _mostFrequent(positions, out) {
    /** @type {Map<number, number[]>} */
    const said = new Map();
    for (const at of positions) {
      const token = this._after(at, out);
      if (token < 0) continue;
      const those = said.get(token);
      if (those) those.push(at);
      else said.set(token, [at]);
    }
    /** @type {{token: number, positions: number[]} | null} */
    let best = null;
    for (const [token, those] of said) {
      if (best === null || those.length > best.positions.length) best = { token, positions: those };
    }
    return best;
  }

  /** @param {number} index of an order @param {number} bucket @param {Tokens} tail */
  _best(index, bucket, tail) {
    let at = this._heads[index][bucket];
    let match = ORDERS[index];
    /** @type {number[]} */
    let positions = [];
    for (let looked = 0; looked < LOOKED_AT && at >= 0; looked++) {
      const found = this.agreeing(at, tail);
      if (found > match) [match, positions] = [found, [at]];
      else if (found === match) positions.push(at);
      at = this._chains[index].at(at);
    }
    return { match, positions };
  }

  /** @param {number} at @param {number[]} out */
  _after(at, out) {
    const place = at + out.length;
    if (place < this.tokens.length) return this.tokens.at(place);
    return this._repeats ? out[place - this.tokens.length] : -1;
  }
}

/**
 * By order, where the tokens before `end` are filed; -1 for an order that is longer.
 * @param {(index: number) => number} at @param {number} end
 */
function bucketsOf(at, end) {
  let value = 2166136261;
  const filed = [-1, -1, -1];
  const longest = Math.min(end, ORDERS[0]);
  for (let count = 1; count <= longest; count++) {
    // FNV-1a over whole words.
    value = Math.imul(value ^ at(end - count), 16777619) >>> 0;
    const order = ORDERS.indexOf(count);
    if (order >= 0) filed[order] = (value ^ (value >>> 16)) & (BUCKETS - 1);
  }
  return filed;
}
