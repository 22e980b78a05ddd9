// Writes the msgpack values that a frame's header holds, in their shortest form
// (https://github.com/msgpack/msgpack/blob/master/spec.md).
//
// A general-purpose encoder is a fiftieth part of the page's first load, and knows types that no header has.

const utf8 = new TextEncoder();

/**
 * @param {unknown} value null, truth values, numbers from 0 on, text, bytes, and lists and plain objects of these;
 *   what is undefined travels as null
 * @returns {Uint8Array}
 */
export function writeMsgpack(value) {
  /** @type {number[]} */
  const out = [];
  write(out, value);
  return Uint8Array.from(out);
}

/** @param {number[]} out @param {any} value */
function write(out, value) {
  if (value === null || value === undefined) out.push(0xc0);
  else if (typeof value === 'boolean') out.push(value ? 0xc3 : 0xc2);
  else if (typeof value === 'number') writeNumber(out, value);
  else if (typeof value === 'string') {
    const bytes = utf8.encode(value);
    writeHead(out, bytes.length, 0xa0, 31, 0xd9, 1);
    append(out, bytes);
  } else if (value instanceof Uint8Array) {
    writeHead(out, value.length, 0, -1, 0xc4, 1);
    append(out, value);
  } else if (Array.isArray(value)) {
    writeHead(out, value.length, 0x90, 15, 0xdc, 2);
    for (const item of value) write(out, item);
  } else {
    const entries = Object.entries(value);
    writeHead(out, entries.length, 0x80, 15, 0xde, 2);
    for (const item of entries.flat()) write(out, item);
  }
}

/** @param {number[]} out @param {number} value */
function writeNumber(out, value) {
  if (Number.isSafeInteger(value) && value >= 0) return writeHead(out, value, 0, 127, 0xcc, 1);
  const bytes = new DataView(new ArrayBuffer(8));
  bytes.setFloat64(0, value);
  out.push(0xcb);
  append(out, new Uint8Array(bytes.buffer));
}

/**
 * A whole number, or how long something is.
 * @param {number[]} out
 * @param {number} count
 * @param {number} short the bits beside a count of at most `most`
 * @param {number} most
 * @param {number} code of the form whose count has `width` bytes; that of twice as many is the next one
 * @param {number} width
 */
function writeHead(out, count, short, most, code, width) {
  if (count <= most) {
    out.push(short | count);
    return;
  }
  while (count >= 256 ** width) {
    width *= 2;
    code += 1;
  }
  out.push(code);
  for (let byte = width - 1; byte >= 0; byte--) out.push(Math.floor(count / 256 ** byte) % 256);
}

/** @param {number[]} out @param {Uint8Array} bytes */
function append(out, bytes) {
  for (const byte of bytes) out.push(byte);
}
