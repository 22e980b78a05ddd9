// A strict reader of the msgpack values that a frame's header may hold
// (https://github.com/msgpack/msgpack/blob/master/spec.md).
//
// The general-purpose decoder reads 1.0 as 1 and takes text that is not UTF-8: on the wire a
// fraction is no whole number, and damaged text is a damaged frame.
import { MalformedFrame } from './errors.js';
import { MAX_ITEMS, MAX_NESTING } from './limits.js';

/** A floating-point value, so that 1.0 is told from 1. */
export class Real {
  /** @param {number} value */
  constructor(value) {
    this.value = value;
  }
}

/** Stands for an extension; no field is one. */
export const EXTENSION = Symbol('extension');

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/**
 * The one value that `bytes` hold. Maps are Map with text keys, bytes Uint8Array, whole numbers
 * number, or bigint beyond 2^53 - 1; fractions Real.
 * @param {Uint8Array} bytes
 * @returns {unknown}
 * @throws {MalformedFrame}
 */
export function readMsgpack(bytes) {
  const reader = new Reader(bytes);
  try {
    const value = reader.value(0);
    reader.requireEnd();
    return value;
  } catch (error) {
    if (error instanceof MalformedFrame) throw error;
    // The view throws beyond its end, the decoder for what is not UTF-8.
    throw new MalformedFrame('the header is not msgpack', error);
  }
}

class Reader {
  /** @param {Uint8Array} bytes */
  constructor(bytes) {
    this._bytes = bytes;
    this._view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this._at = 0;
  }

  requireEnd() {
    if (this._at !== this._bytes.length) throw new MalformedFrame('the header holds two values');
  }

  /**
   * @param {number} depth lists and maps around the value
   * @returns {unknown}
   */
  value(depth) {
    const head = this._whole(1);
    if (head < 0x80) return head;
    if (head < 0x90) return this._map(head & 0x0f, depth);
    if (head < 0xa0) return this._list(head & 0x0f, depth);
    if (head < 0xc0) return this._text(head & 0x1f);
    if (head >= 0xe0) return head - 0x100;
    return this._long(head, depth);
  }

  /** What the heads 0xc0 to 0xdf begin. @param {number} head @param {number} depth */
  _long(head, depth) {
    if (head <= 0xc3) return this._constant(head);
    if (head <= 0xc6) return this._take(this._whole(1 << (head - 0xc4)));
    if (head <= 0xc9) return this._extension(this._whole(1 << (head - 0xc7)));
    if (head <= 0xcb) return this._real(head === 0xca);
    if (head <= 0xcf) return head === 0xcf ? this._wide(false) : this._whole(1 << (head - 0xcc));
    if (head <= 0xd3) return head === 0xd3 ? this._wide(true) : this._signed(1 << (head - 0xd0));
    if (head <= 0xd8) return this._extension(1 << (head - 0xd4));
    if (head <= 0xdb) return this._text(this._whole(1 << (head - 0xd9)));
    if (head <= 0xdd) return this._list(this._whole(head === 0xdc ? 2 : 4), depth);
    return this._map(this._whole(head === 0xde ? 2 : 4), depth);
  }

  /** @param {number} head */
  _constant(head) {
    if (head === 0xc1) throw new MalformedFrame('a byte that msgpack reserves');
    return head === 0xc0 ? null : head === 0xc3;
  }

  /** @param {number} size 1, 2 or 4 bytes */
  _whole(size) {
    const at = this._skip(size);
    if (size === 1) return this._view.getUint8(at);
    return size === 2 ? this._view.getUint16(at) : this._view.getUint32(at);
  }

  /** @param {number} size 1, 2 or 4 bytes */
  _signed(size) {
    const at = this._skip(size);
    if (size === 1) return this._view.getInt8(at);
    return size === 2 ? this._view.getInt16(at) : this._view.getInt32(at);
  }

  /** @param {boolean} signed @returns {number | bigint} */
  _wide(signed) {
    const at = this._skip(8);
    const value = signed ? this._view.getBigInt64(at) : this._view.getBigUint64(at);
    return Number.isSafeInteger(Number(value)) ? Number(value) : value;
  }

  /** @param {boolean} single */
  _real(single) {
    const at = this._skip(single ? 4 : 8);
    return new Real(single ? this._view.getFloat32(at) : this._view.getFloat64(at));
  }

  /** @param {number} size */
  _extension(size) {
    this._skip(1 + size);
    return EXTENSION;
  }

  /** @param {number} size */
  _text(size) {
    return utf8.decode(this._take(size));
  }

  /** @param {number} size @param {number} depth @returns {unknown[]} */
  _list(size, depth) {
    this._requireRoom(size, depth);
    const items = [];
    for (let i = 0; i < size; i++) items.push(this.value(depth + 1));
    return items;
  }

  /** @param {number} size @param {number} depth @returns {Map<string, unknown>} */
  _map(size, depth) {
    this._requireRoom(size, depth);
    const map = new Map();
    for (let i = 0; i < size; i++) {
      const key = this.value(depth + 1);
      if (typeof key !== 'string') throw new MalformedFrame('a key is not text');
      map.set(key, this.value(depth + 1));
    }
    return map;
  }

  /** @param {number} size @param {number} depth */
  _requireRoom(size, depth) {
    if (size > MAX_ITEMS) throw new MalformedFrame(`a list or map of ${size} items`);
    if (depth >= MAX_NESTING) throw new MalformedFrame('lists nested too deeply');
  }

  /** @param {number} size */
  _take(size) {
    const at = this._skip(size);
    return this._bytes.subarray(at, at + size);
  }

  /** The place of the next `size` bytes, which are then behind. @param {number} size */
  _skip(size) {
    const at = this._at;
    if (at + size > this._bytes.length) throw new MalformedFrame('the header is cut short');
    this._at = at + size;
    return at;
  }
}
