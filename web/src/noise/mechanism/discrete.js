// Discrete Gaussian noise of one fixed, large width from uniform 64-bit words, as
// split_privacy.discrete draws it and with the same constants; the proofs of what follows stand there.
//
// X = A + SPREAD * B, where A and B are discrete Gaussians of parameter BASE by inversion of their exact
// distribution function. A word decides by itself unless its 63 bits fall on a threshold's; then more bits
// are drawn until they decide (Knuth, Yao 1976), so A and B are exact: whole numbers, no floating point.
import { epsilonOf } from './gaussian.js';
import { thresholds } from './thresholds.js';

export const BASE = 2300;
export const SPREAD = 1024;
export const WIDTH = BASE * Math.sqrt(1 + SPREAD * SPREAD);
export const SLACK_PER_COORDINATE = 5 / WIDTH ** 2;
export const WORDS_PER_DRAW = 2;
const BITS = 63;
const MORE_BITS = 192;
const LARGEST_EPSILON_PER_COORDINATE = 40;
const LARGEST_EPSILON_LESS = 30;

/**
 * (index of a word, how many bits) to that many further uniform bits for it, the first ones of a stream: a
 * longer answer begins with the shorter one.
 * @typedef {(index: number, bits: number) => bigint} MoreBits
 */

/**
 * The epsilon at `delta` of discrete releases whose mu^2 add up to mu^2; Infinity where nothing is proven.
 * @param {number} delta @param {number} mu
 * @param {number} coordinates how many values were released
 */
export function epsilonOfRelease(delta, mu, coordinates) {
  if (coordinates === 0) return 0;
  const slack = coordinates * SLACK_PER_COORDINATE;
  if (slack >= 0.5) return Infinity;
  const epsilon = epsilonOf(delta * (1 - slack), mu);
  const largest = LARGEST_EPSILON_PER_COORDINATE * coordinates - LARGEST_EPSILON_LESS;
  return epsilon > largest + Math.log(delta) ? Infinity : epsilon + slack;
}

/**
 * Draws [n] of parameter WIDTH.
 * @param {Uint8Array} words uniform bytes: n pairs of 64-bit words, little endian
 * @param {MoreBits} more
 * @returns {Float64Array} whole numbers
 */
export function discreteGaussian(words, more) {
  const base = base2300().draws(words, more);
  const draws = new Float64Array(base.length / WORDS_PER_DRAW);
  for (let i = 0; i < draws.length; i++) draws[i] = base[2 * i] + SPREAD * base[2 * i + 1];
  return draws;
}

/** @type {BaseGaussian | null} */
let kept = null;

/** The one that all noise is made of; its table takes a while. */
function base2300() {
  kept ??= new BaseGaussian(BASE, BITS);
  return kept;
}

/** Exact discrete Gaussians of parameter `s`. */
export class BaseGaussian {
  /** @param {number} s @param {number} bits of a word that are looked at first, up to 63 */
  constructor(s, bits) {
    this._s = s;
    this._bits = bits;
    const table = thresholds(s, bits);
    // A threshold has up to 63 bits, a number here 53: upper and lower half.
    this._high = Uint32Array.from(table, (threshold) => Number(threshold >> 32n));
    this._low = Uint32Array.from(table, (threshold) => Number(threshold & 0xffffffffn));
    /** @type {Map<number, bigint[]>} with more bits */
    this._exact = new Map();
  }

  /**
   * A word's lowest bit is the sign, its upper bits the beginning of a uniform number.
   * @param {Uint8Array} words uniform bytes: 64-bit words, little endian @param {MoreBits} more
   * @returns {Int32Array} one for each word
   */
  draws(words, more) {
    const view = new DataView(words.buffer, words.byteOffset, words.byteLength);
    const draws = new Int32Array(words.byteLength / 8);
    for (let i = 0; i < draws.length; i++) {
      const [upper, lower] = [view.getUint32(8 * i + 4, true), view.getUint32(8 * i, true)];
      const magnitude = this._magnitude(upper, lower, i, more);
      draws[i] = lower & 1 ? -magnitude : magnitude;
    }
    return draws;
  }

  /**
   * @param {number} upper @param {number} lower halves of the word @param {number} index
   * @param {MoreBits} more
   */
  _magnitude(upper, lower, index, more) {
    const shift = 64 - this._bits;
    const high = shift < 32 ? upper >>> shift : 0;
    const low = shift < 32 ? ((upper << (32 - shift)) | (lower >>> shift)) >>> 0 : upper >>> (shift - 32);
    const magnitude = this._notAbove(high, low);
    const at = Math.max(magnitude, 1) - 1;
    if (this._high[at] !== high || this._low[at] !== low) return magnitude;
    return this._decided((BigInt(high) << 32n) | BigInt(low), index, more);
  }

  /** How many thresholds are not above. @param {number} high @param {number} low halves of a number */
  _notAbove(high, low) {
    let from = 0;
    let to = this._high.length;
    while (from < to) {
      const middle = (from + to) >>> 1;
      const upper = this._high[middle];
      if (upper < high || (upper === high && this._low[middle] <= low)) from = middle + 1;
      else to = middle;
    }
    return from;
  }

  /** The magnitude where the first bits are those of a threshold.
   * @param {bigint} uniform @param {number} index @param {MoreBits} more */
  _decided(uniform, index, more) {
    for (let extra = MORE_BITS; ; extra *= 2) {
      const exact = this._exact.get(extra) ?? thresholds(this._s, this._bits + extra);
      this._exact.set(extra, exact);
      const number = (uniform << BigInt(extra)) | more(index, extra);
      const above = exact.findIndex((threshold) => threshold > number);
      const magnitude = above < 0 ? exact.length : above;
      if (magnitude === 0 || exact[magnitude - 1] !== number) return magnitude;
    }
  }
}
