// A split.v1 frame: a fixed prefix, a msgpack map, then raw tensors (docs/protocol.md, "Frame").
//
// Offsets follow from the shapes, so no field can point outside the frame or make two tensors overlap.
import { FrameTooLarge, MalformedFrame, MalformedMessage } from './errors.js';
import { MAX_HEADER_BYTES, MAX_SIDE, MAX_TENSORS } from './limits.js';
import { readMsgpack } from './msgpack.js';
import { writeMsgpack } from './msgpack_write.js';
import { Tensor, align, itemSize, wireDtype } from './tensor.js';

/** @typedef {import('./tensor.js').TensorDType} TensorDType */
/** @typedef {{header: Map<string, unknown>, tensors: Map<string, Tensor>}} Frame */

const MAGIC = 0x314c5053; // "SPL1", little endian
const PREFIX_BYTES = 8;
// The only names under which whole numbers travel; a row of them is a wrong dtype.
const WHOLE_NUMBERS = new Set(['attention_positions']);

/**
 * @param {Record<string, unknown>} header without the list of tensors
 * @param {Record<string, Tensor>} [tensors] in the order of their bytes
 * @returns {Uint8Array}
 * @throws {FrameTooLarge} when the header outgrows its limit
 */
export function encodeFrame(header, tensors = {}) {
  const entries = Object.entries(tensors);
  const list = entries.map(([name, tensor]) => [name, tensor.dtype, [tensor.rows, tensor.width]]);
  const described = writeMsgpack(list.length ? { ...header, tensors: list } : header);
  if (described.length > MAX_HEADER_BYTES) throw new FrameTooLarge(described.length, MAX_HEADER_BYTES);
  const parts = entries.flatMap(([, { dtype, data, scales }]) => (dtype === 'i8' ? [data, scales] : [data]));
  return assembled(described, parts);
}

/** @param {Uint8Array} header @param {Uint8Array[]} parts */
function assembled(header, parts) {
  let size = PREFIX_BYTES + header.length;
  const offsets = parts.map((part) => {
    const start = align(size);
    size = start + part.length;
    return start;
  });
  const frame = new Uint8Array(size);
  const prefix = new DataView(frame.buffer);
  prefix.setUint32(0, MAGIC, true);
  prefix.setUint32(4, header.length, true);
  frame.set(header, PREFIX_BYTES);
  parts.forEach((part, i) => frame.set(part, offsets[i]));
  return frame;
}

/**
 * Whether `bytes` begin like a frame.
 * @param {Uint8Array} bytes
 */
export function isFrame(bytes) {
  return bytes.length >= 4 && viewOf(bytes).getUint32(0, true) === MAGIC;
}

/**
 * Parses a whole frame; its tensors are views into `bytes`.
 * @param {Uint8Array} bytes
 * @param {number} maxBytes
 * @returns {Frame}
 * @throws {FrameTooLarge | MalformedFrame | MalformedMessage | import('./errors.js').WrongDtype}
 */
export function decodeFrame(bytes, maxBytes) {
  if (bytes.length > maxBytes) throw new FrameTooLarge(bytes.length, maxBytes);
  const { header, end } = readHeader(bytes);
  const described = header.get('tensors') ?? [];
  if (header.get('tensors') === null || !Array.isArray(described) || described.length > MAX_TENSORS) {
    throw new MalformedMessage(`'tensors' must be a list of at most ${MAX_TENSORS}`);
  }
  header.delete('tensors');
  const reader = new TensorReader(bytes, end);
  /** @type {Map<string, Tensor>} */
  const tensors = new Map();
  for (const entry of described) {
    const { name, dtype, rows, width } = description(entry);
    if (tensors.has(name)) throw new MalformedMessage('two tensors have the same name');
    tensors.set(name, reader.read(dtype, rows, width));
  }
  reader.requireEnd();
  return { header, tensors };
}

/** @param {Uint8Array} bytes */
function readHeader(bytes) {
  if (bytes.length < PREFIX_BYTES) {
    throw new MalformedFrame(`${bytes.length} bytes are shorter than the prefix`);
  }
  if (!isFrame(bytes)) throw new MalformedFrame('the magic is missing');
  const length = viewOf(bytes).getUint32(4, true);
  const end = PREFIX_BYTES + length;
  if (length > MAX_HEADER_BYTES || end > bytes.length) {
    throw new MalformedFrame(`a header of ${length} bytes does not fit`);
  }
  const header = readMsgpack(bytes.subarray(PREFIX_BYTES, end));
  if (!(header instanceof Map)) throw new MalformedFrame('the header is not a map');
  return { header: /** @type {Map<string, unknown>} */ (header), end };
}

/** @param {Uint8Array} bytes */
function viewOf(bytes) {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/**
 * @param {unknown} entry
 * @returns {{name: string, dtype: TensorDType, rows: number, width: number}}
 */
function description(entry) {
  const [name, dtype, shape] = Array.isArray(entry) && entry.length === 3 ? entry : [];
  const [rows, width] = Array.isArray(shape) && shape.length === 2 ? shape : [];
  if (typeof name !== 'string' || !isSide(rows) || !isSide(width) || width === 0) {
    throw new MalformedMessage('a tensor is described as [name, dtype, [rows, width]]');
  }
  const whole = dtype === 'i32' && WHOLE_NUMBERS.has(name);
  return { name, dtype: whole ? 'i32' : wireDtype(dtype), rows, width };
}

/** @param {unknown} value */
function isSide(value) {
  return typeof value === 'number' && value >= 0 && value <= MAX_SIDE;
}

class TensorReader {
  /** @param {Uint8Array} bytes @param {number} position */
  constructor(bytes, position) {
    this._bytes = bytes;
    this._position = position;
  }

  /** @param {TensorDType} dtype @param {number} rows @param {number} width */
  read(dtype, rows, width) {
    const data = this._take(rows * width * itemSize(dtype));
    return new Tensor(dtype, rows, width, data, dtype === 'i8' ? this._take(4 * rows) : undefined);
  }

  requireEnd() {
    const left = this._bytes.length - this._position;
    if (left !== 0) throw new MalformedFrame(`${left} bytes are left over`);
  }

  /** @param {number} size */
  _take(size) {
    const start = align(this._position);
    if (start + size > this._bytes.length) throw new MalformedFrame('it ends inside a tensor');
    if (this._bytes.subarray(this._position, start).some((byte) => byte !== 0)) {
      throw new MalformedFrame('the padding before a tensor is not zero');
    }
    this._position = start + size;
    return this._bytes.subarray(start, this._position);
  }
}
