// Tensors as they travel: raw little-endian rows with a dtype and a shape.
//
// `i8` holds one f32 scale per row (value = scale * int8). A scale is above 0 and small enough that
// no product overflows.
import { MalformedMessage, NonFinite, WrongDtype, WrongShape } from './errors.js';
import { narrow, widen } from './floats.js';

/** @typedef {import('../../types/gatelink.js').DType} DType */
/** @typedef {DType | 'i32'} TensorDType whole numbers are positions, never rows */

export const ALIGNMENT = 8;
/** @type {readonly DType[]} */
export const WIRE_DTYPES = ['f32', 'f16', 'bf16', 'i8'];
/** @type {Record<TensorDType, number>} */
const ITEM_SIZES = { f32: 4, f16: 2, bf16: 2, i8: 1, i32: 4 };
// -128 times this is still a finite float32.
const MAX_SCALE = (2 - 2 ** -23) * 2 ** 120;
// An exponent that is all ones marks NaN and infinity in IEEE 754 binary formats.
const EXPONENT = { f16: 0x7c00, bf16: 0x7f80 };
// Adding and subtracting it rounds a double below 2^51 to a whole number, ties to even.
const ROUNDER = 1.5 * 2 ** 52;

/**
 * The next multiple of 8 at or after `offset`.
 * @param {number} offset
 */
export function align(offset) {
  return Math.ceil(offset / ALIGNMENT) * ALIGNMENT;
}

/**
 * Bytes of one value.
 * @param {TensorDType} dtype
 */
export function itemSize(dtype) {
  return ITEM_SIZES[dtype];
}

/**
 * Checks a dtype's name.
 * @param {unknown} name
 * @returns {DType}
 * @throws {WrongDtype}
 */
export function wireDtype(name) {
  const known = WIRE_DTYPES.find((each) => each === name);
  // A value that came off the wire may be nested too deeply to print.
  if (known === undefined) throw new WrongDtype(typeof name === 'string' ? name : typeof name);
  return known;
}

/** A [rows, width] matrix: `data` its raw bytes, `scales` the f32 bytes of an `i8` one. */
export class Tensor {
  /**
   * @param {TensorDType} dtype
   * @param {number} rows
   * @param {number} width
   * @param {Uint8Array} data
   * @param {Uint8Array} [scales]
   * @throws {WrongShape} where the bytes do not fit the shape
   */
  constructor(dtype, rows, width, data, scales = new Uint8Array(0)) {
    const scaleBytes = dtype === 'i8' ? 4 * rows : 0;
    if (data.length !== rows * width * ITEM_SIZES[dtype] || scales.length !== scaleBytes) {
      throw new WrongShape([rows, width], `${data.length} bytes of ${dtype}`);
    }
    this.dtype = dtype;
    this.rows = rows;
    this.width = width;
    this.data = data;
    this.scales = scales;
  }

  /**
   * Encodes rows one after the other, rounding to nearest, ties to even.
   * @param {Float32Array} values rows * width
   * @param {number} width
   * @param {DType} dtype
   * @throws {NonFinite} for NaN, infinity and values beyond the dtype's range
   */
  static fromF32(values, width, dtype) {
    const rows = values.length / width;
    if (!Number.isInteger(rows)) throw new WrongShape([values.length], `rows of ${width}`);
    if (dtype === 'i8') return quantised(values, rows, width);
    const tensor = new Tensor(dtype, rows, width, narrow(dtype, values));
    tensor.requireFinite();
    return tensor;
  }

  /**
   * The values as float32, row by row. Exact but for the products of `i8`.
   * @returns {Float32Array} [rows * width]; for f32 it may be a view of `data`
   */
  toF32() {
    if (this.dtype === 'i32') return Float32Array.from(this.wholeNumbers());
    if (this.dtype !== 'i8') return widen(this.dtype, this.data);
    const stored = new Int8Array(this.data.buffer, this.data.byteOffset, this.data.length);
    const scales = this.rowScales();
    return Float32Array.from(stored, (value, i) => value * scales[Math.floor(i / this.width)]);
  }

  /** The scales of an `i8` tensor, [rows]. */
  rowScales() {
    return widen('f32', this.scales);
  }

  /** The values of an `i32` tensor. */
  wholeNumbers() {
    const bits = widen('f32', this.data);
    return new Int32Array(bits.buffer, bits.byteOffset, bits.length);
  }

  /**
   * @throws {NonFinite} when the values hold NaN or infinity
   * @throws {MalformedMessage} when a scale is not above 0
   */
  requireFinite() {
    if (this.dtype === 'i32') return;
    if (this.dtype === 'i8') requireScales(this.rowScales());
    else if (this.dtype === 'f32') requireAll(widen('f32', this.data), Number.isFinite);
    else requireExponents(this.data, EXPONENT[this.dtype]);
  }
}

/** @param {Float32Array} values @param {(value: number) => boolean} accepts */
function requireAll(values, accepts) {
  for (let i = 0; i < values.length; i++) if (!accepts(values[i])) throw new NonFinite();
}

/** @param {Uint8Array} data 2 bytes a value, at any offset @param {number} mask */
function requireExponents(data, mask) {
  const upper = mask >>> 8;
  const lower = mask & 0xff;
  for (let i = 0; i < data.length; i += 2) {
    if ((data[i + 1] & upper) === upper && (data[i] & lower) === lower) throw new NonFinite();
  }
}

/** @param {Float32Array} scales */
function requireScales(scales) {
  requireAll(scales, (scale) => Math.abs(scale) <= MAX_SCALE);
  if (scales.some((scale) => scale <= 0)) {
    throw new MalformedMessage('the scales of an i8 tensor must be above 0');
  }
}

/** @param {Float32Array} values @param {number} rows @param {number} width */
function quantised(values, rows, width) {
  requireAll(values, Number.isFinite);
  const stored = new Int8Array(values.length);
  const scales = new Float32Array(rows);
  for (let row = 0; row < rows; row++) {
    const at = row * width;
    scales[row] = scaleOf(values.subarray(at, at + width));
    for (let i = at; i < at + width; i++) {
      const quotient = Math.fround(values[i] / scales[row]);
      const whole = Math.abs(quotient) < 128 ? quotient + ROUNDER - ROUNDER : quotient;
      stored[i] = Math.max(-127, Math.min(127, whole));
    }
  }
  return new Tensor('i8', rows, width, new Uint8Array(stored.buffer), new Uint8Array(scales.buffer));
}

/** @param {Float32Array} row @returns {number} a float32 */
function scaleOf(row) {
  const peak = row.reduce((largest, value) => Math.max(largest, Math.abs(value)), 0);
  // A denormal peak can underflow its scale to zero; such a row is sent as zeros.
  return Math.min(Math.fround(peak / 127) || 1, MAX_SCALE);
}
