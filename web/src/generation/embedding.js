import { roundTo } from '../protocol/floats.js';
import { NotRepresentable, TokenIdOutOfRange, UnknownFloat } from './errors.js';

/** @typedef {import('../../types/gatelink.d.ts').DType} DType */
/** @typedef {import('../../types/gatelink.d.ts').FloatName} FloatName */

const FLOATS = new Set(['f32', 'bf16', 'f16']);
const LARGEST_ID = 2 ** 31 - 1;

/**
 * Token ids to the embeddings that travel: table look-up, the family's scale, rounding (docs/protocol.md,
 * "From token to row").
 */
export class Embedding {
  /**
   * `scaleDtype` is the dtype that the server computes in: a model multiplies in that dtype, so the row, the
   * scale and the product are each rounded to it. Throws UnknownFloat.
   * @param {(ids: Int32Array) => Promise<Float32Array>} rawRows table rows [n, hiddenSize], widened
   * @param {number} hiddenSize
   * @param {number | null} scale the family's factor (Gemma: sqrt(hidden)), null where there is none
   * @param {FloatName} scaleDtype
   * @param {number} [rows] of the table
   */
  constructor(rawRows, hiddenSize, scale, scaleDtype, rows = LARGEST_ID + 1) {
    if (!FLOATS.has(scaleDtype)) throw new UnknownFloat(scaleDtype);
    this._rawRows = rawRows;
    this._hiddenSize = hiddenSize;
    this._compute = scaleDtype;
    this._rows = rows;
    this._scale = scale === null ? null : roundTo(scaleDtype, Float32Array.of(scale))[0];
  }

  /**
   * Embeddings [n, hiddenSize]; `wireDtype` represents every value exactly, but for `i8`, whose rows stay f32
   * until a frame gives them their scales. Throws TokenIdOutOfRange, UnknownFloat, NotRepresentable and what
   * reading throws.
   * @param {ArrayLike<number>} ids [n]
   * @param {DType} wireDtype
   * @returns {Promise<Float32Array>}
   */
  async lookup(ids, wireDtype) {
    const dtype = wireDtype === 'i8' ? 'f32' : wireDtype;
    if (!FLOATS.has(dtype)) throw new UnknownFloat(wireDtype);
    const checked = this._checked(ids);
    const raw = await this._rawRows(checked);
    const rounded = roundTo(dtype, this._scale === null ? raw : this._scaled(raw, this._scale));
    for (let i = 0; i < rounded.length; i++) {
      if (Number.isFinite(rounded[i])) continue;
      throw new NotRepresentable(checked[Math.floor(i / this._hiddenSize)], dtype);
    }
    return rounded;
  }

  /** @param {ArrayLike<number>} ids */
  _checked(ids) {
    for (let i = 0; i < ids.length; i++) {
      const inside = Number.isInteger(ids[i]) && ids[i] >= 0 && ids[i] < this._rows;
      if (!inside) throw new TokenIdOutOfRange(ids[i], this._rows);
    }
    return Int32Array.from(ids);
  }

  /** @param {Float32Array} raw @param {number} scale */
  _scaled(raw, scale) {
    const rows = roundTo(this._compute, raw);
    const product = new Float32Array(rows.length);
    // The double product of two float32 is exact, so that storing it rounds once.
    for (let i = 0; i < product.length; i++) product[i] = rows[i] * scale;
    return roundTo(this._compute, product);
  }
}
