// Rows of attention, one for each token of a reply, as far as there is room.

/** Bytes of all rows of a reply; a phone has that much to spare. */
export const MOST_BYTES = 16 << 20;

/**
 * The mean over the layers, in the order and precision of numpy's mean of float64.
 * @param {Float32Array} weights [layers, width]
 * @param {number} width
 * @returns {Float32Array} [width]
 */
export function meanOverLayers(weights, width) {
  const layers = weights.length / width;
  const sum = new Float64Array(width);
  for (let at = 0; at < weights.length; at++) sum[at % width] += weights[at];
  return Float32Array.from(sum, (value) => value / layers);
}

/** Rows by the number of their token; the oldest give way. */
export class AttentionRows {
  /** @param {number} [mostBytes] */
  constructor(mostBytes = MOST_BYTES) {
    this._mostBytes = mostBytes;
    this._bytes = 0;
    /** @type {Float32Array[]} */
    this._rows = [];
    /** Number of the oldest row that is kept. */
    this.first = 0;
  }

  /** The number that the next row has. */
  get end() {
    return this.first + this._rows.length;
  }

  /** @param {Float32Array} row */
  add(row) {
    this._rows.push(row);
    this._bytes += row.byteLength;
    while (this._bytes > this._mostBytes && this._rows.length > 1) {
      this._bytes -= /** @type {Float32Array} */ (this._rows.shift()).byteLength;
      this.first += 1;
    }
  }

  /** @param {number} token @returns {Float32Array | null} null: it is not kept */
  at(token) {
    return this._rows[token - this.first] ?? null;
  }

  /**
   * The mean of all rows that are kept; a token that was not there yet has no weight.
   * @returns {Float32Array | null} null: there are none
   */
  average() {
    const last = this._rows.at(-1);
    if (last === undefined) return null;
    const sum = new Float64Array(last.length);
    for (const row of this._rows) for (let i = 0; i < row.length; i++) sum[i] += row[i];
    return Float32Array.from(sum, (value) => value / this._rows.length);
  }
}
