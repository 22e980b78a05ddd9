// Rows of attention, one for each token of a reply, as far as there is room.
import { LARGEST_OF_A_ROW } from '../../protocol/attention.js';
import { roundTo } from '../../protocol/floats.js';

/** @typedef {import('../../protocol/attention.js').Told} Told */
/**
 * What one position looked at, reduced over all heads of all layers: the largest `weights` of `width` positions, and
 * their `places`.
 * @typedef {{width: number, weights: Float32Array, places: Int32Array}} Row
 */

/** Bytes of all rows of a reply; a phone has that much to spare. */
export const MOST_BYTES = 16 << 20;

/**
 * One row of what was told: the largest weights of the mean, in half precision, as a server that reduces sends it.
 * @param {Told} told one row, or rows that have no positions
 * @returns {Row}
 */
export function rowOf({ layers, heads, cached, weights, positions }) {
  if (positions) return { width: cached, weights, places: positions };
  const mean = layers * heads === 1 ? weights : roundTo('f16', meanOf(weights, cached));
  const order = Int32Array.from(mean.keys()).sort((one, other) => mean[other] - mean[one] || one - other);
  const places = order.slice(0, LARGEST_OF_A_ROW);
  return { width: cached, weights: Float32Array.from(places, (place) => mean[place]), places };
}

/**
 * The mean over rows, in the order and precision of numpy's mean of float64.
 * @param {Float32Array} weights [rows, width]
 * @param {number} width
 * @returns {Float32Array} [width]
 */
export function meanOf(weights, width) {
  const rows = weights.length / width;
  const sum = new Float64Array(width);
  for (let from = 0; from < weights.length; from += width) {
    for (let at = 0; at < width; at++) sum[at] += weights[from + at];
  }
  return Float32Array.from(sum, (value) => value / rows);
}

/** The weights of all positions; those that were not told are 0. @param {Row} row @returns {Float32Array} */
export function wholeRow({ width, weights, places }) {
  const whole = new Float32Array(width);
  for (let i = 0; i < places.length; i++) whole[places[i]] = weights[i];
  return whole;
}

/** Rows by the number of their token; the oldest give way. */
export class AttentionRows {
  /** @param {number} [mostBytes] */
  constructor(mostBytes = MOST_BYTES) {
    this._mostBytes = mostBytes;
    this._bytes = 0;
    /** @type {Row[]} */
    this._rows = [];
    /** Number of the oldest row that is kept. */
    this.first = 0;
  }

  /** The number that the next row has. */
  get end() {
    return this.first + this._rows.length;
  }

  /** @param {Row} row */
  add(row) {
    this._rows.push(row);
    this._bytes += bytesOf(row);
    while (this._bytes > this._mostBytes && this._rows.length > 1) {
      this._bytes -= bytesOf(/** @type {Row} */ (this._rows.shift()));
      this.first += 1;
    }
  }

  /** @param {number} token @returns {Float32Array | null} weights of all positions; null: it is not kept */
  at(token) {
    const row = this._rows[token - this.first];
    return row ? wholeRow(row) : null;
  }

  /**
   * The mean of all rows that are kept; a token that was not there yet has no weight.
   * @returns {Float32Array | null} null: there are none
   */
  average() {
    const last = this._rows.at(-1);
    if (last === undefined) return null;
    const sum = new Float64Array(last.width);
    for (const { weights, places } of this._rows) {
      for (let i = 0; i < weights.length; i++) sum[places[i]] += weights[i];
    }
    return Float32Array.from(sum, (value) => value / this._rows.length);
  }

  /** Those that are kept, as numbers. @param {number} first position of the first token */
  told(first) {
    return this._rows.map(({ weights, places }, i) => ({
      position: first + this.first + i,
      positions: Array.from(places),
      weights: Array.from(weights),
    }));
  }

  /**
   * Of each row that is kept the share of its weight that lies before a position, the first one left out.
   * @param {number} before @returns {Float32Array}
   */
  sharesBefore(before) {
    return Float32Array.from(this._rows, ({ weights, places }) => {
      let [far, all] = [0, 0];
      for (let i = 0; i < weights.length; i++) {
        const at = places[i];
        if (at === 0) continue;
        all += weights[i];
        if (at < before) far += weights[i];
      }
      return all > 0 ? far / all : 0;
    });
  }
}

/** @param {Row} row */
function bytesOf({ weights, places }) {
  return weights.byteLength + places.byteLength;
}
