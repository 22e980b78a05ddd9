import { InvalidHeadSpec } from './errors.js';

// Room for the float32 roundings of `finish`: a few units of 2^-24 each, and underflow.
const SLACK = 2 ** -20;
const UNDERFLOW = 2 ** -80;
// Keeps scaled logits far from float32's underflow; families use 1/16 to 50.
const SMALLEST = 2 ** -20;
const LARGEST = 2 ** 20;
const { fround } = Math;

/**
 * What a family does to the product of hidden state and LM head rows, in float32:
 * logit = cap(scaled(row . hidden + bias)).
 *
 * A double operation on float32 values rounded once more to float32 is the float32 operation (Figueroa 1995),
 * but for tanh: its last bit is the library's, in Python too, so capped logits agree within the last bits
 * only.
 */
export class HeadSpec {
  /**
   * Throws InvalidHeadSpec.
   * @param {{bias?: Float32Array | null, softcap?: number | null, scale?: number, divide?: boolean}} [spec]
   *   `bias` [rows] (Phi); `scale`: a positive factor (Cohere), or with `divide` a positive divisor
   *   (Granite); `softcap`: c * tanh(x / c) (Gemma 2 and 3)
   */
  constructor({ bias = null, softcap = null, scale = 1, divide = false } = {}) {
    checkFactor('scale', scale);
    if (softcap !== null) checkFactor('softcap', softcap);
    if (bias?.every(Number.isFinite) === false) throw new InvalidHeadSpec('bias holds NaN or infinity');
    this.bias = bias;
    this.softcap = softcap;
    this.scale = scale;
    this.divide = divide;
  }

  /** Throws InvalidHeadSpec when the bias does not have one value per row. @param {number} rows */
  checkRows(rows) {
    if (this.bias !== null && this.bias.length !== rows) {
      throw new InvalidHeadSpec(`bias of ${this.bias.length} values for ${rows} rows`);
    }
  }

  /**
   * Logits from products (row . hidden).
   * @param {Float32Array} products
   * @param {Int32Array | null} [ids] whose rows they are; null: all, in order
   */
  finish(products, ids = null) {
    return this.finishBiased(this.biased(products, ids));
  }

  /**
   * `products` plus the bias of their rows.
   * @param {Float32Array} products
   * @param {Int32Array | null} [ids]
   */
  biased(products, ids = null) {
    const { bias } = this;
    if (bias === null) return products;
    return products.map((product, i) => product + bias[ids === null ? i : ids[i]]);
  }

  /**
   * Logits from row . hidden + bias: scale, then cap. Does not decrease.
   * @param {Float32Array} biased
   */
  finishBiased(biased) {
    if (this.scale === 1 && this.softcap === null) return biased;
    return biased.map((value) => this._finishedValue(value));
  }

  /**
   * The lowest row . hidden + bias whose logit can round to that of `biased` or higher: rounding and a
   * saturated tanh map neighbours to one logit, and equal logits rank by id.
   * @param {number} biased
   */
  lowestRival(biased) {
    const floor = biased - Math.abs(biased) * SLACK - UNDERFLOW;
    if (this.softcap === null || !Number.isFinite(floor)) return floor;
    const factor = this.divide ? 1 / this.scale : this.scale;
    const tanh = Math.tanh((floor * factor) / this.softcap);
    const capped = tanh - Math.abs(tanh) * SLACK;
    return capped <= -1 ? -Infinity : Math.min(floor, (Math.atanh(capped) * this.softcap) / factor);
  }

  /** @param {number} value a float32 @returns {number} to be rounded to float32 by storing it */
  _finishedValue(value) {
    let logit = value;
    if (this.scale !== 1) {
      const scale = fround(this.scale);
      logit = fround(this.divide ? logit / scale : logit * scale);
    }
    if (this.softcap === null) return logit;
    const cap = fround(this.softcap);
    return fround(Math.tanh(fround(logit / cap))) * cap;
  }
}

/** @param {string} name @param {number} value */
function checkFactor(name, value) {
  if (value >= SMALLEST && value <= LARGEST) return;
  throw new InvalidHeadSpec(`${name} ${value} is not in 2^-20..2^20`);
}
