// Rows of bfloat16 that travel as blocks of q8_0 (docs/protocol.md, Packed forms); loaded where a server has them.
/** @import { FileEntry, Manifest } from '../../../types/gatelink.js' */

const SUFFIX = '.q8_0';
const VALUES = 32;
const BLOCK = 34;
const ROWS = 2 * VALUES;
const SIGN = 0x8000;
const EXPONENT_BITS = 10;
const LARGEST_EXPONENT = 31;
const BIAS = 15;

/**
 * A file that travels packed, chunk by chunk.
 * @typedef {object} Form
 * @property {string} name what the server calls it
 * @property {(size: number) => number} sized bytes that travel in place of `size` bytes of the file
 * @property {(blocks: Uint8Array) => Uint8Array} unpacked good until it is called again
 */

/**
 * The packed forms that a server tells of, by the names of the files.
 * @param {Manifest} manifest
 * @param {string} told the header of the answer with the manifest
 * @returns {Map<string, Form>}
 */
export function formsOf(manifest, told) {
  const unpacked = unpacker();
  const forms = packedFiles(manifest, told).map(({ name }) => ({ name: name + SUFFIX, sized, unpacked }));
  return new Map(forms.map((form) => [form.name.slice(0, -SUFFIX.length), form]));
}

/**
 * How many bytes of a model travel, and how many of those have where `stored` bytes are here: tables come first.
 * @param {Manifest} manifest @param {string} told @param {number} stored
 */
export function travelling(manifest, told, stored) {
  const packed = packedFiles(manifest, told).reduce((sum, { size }) => sum + size, 0);
  const travelled = (/** @type {number} */ bytes) => bytes - Math.min(bytes, packed) + sized(Math.min(bytes, packed));
  return { comes: travelled(manifest.size), doneBytes: travelled(stored) };
}

/** @param {Manifest} manifest @param {string} told @returns {FileEntry[]} */
function packedFiles({ files, embedding, head }, told) {
  const names = told.split(/, */);
  return files.filter(
    ({ name, size, chunkSize }) =>
      names.includes(name + SUFFIX) &&
      [embedding, head].some(({ file, dtype }) => file === name && dtype === 'bf16') &&
      size % ROWS === 0 &&
      chunkSize % ROWS === 0,
  );
}

/** Bytes of the blocks of so many bytes of rows. @param {number} size */
function sized(size) {
  return (size / ROWS) * BLOCK;
}

/** One buffer serves all chunks: an array for each would pile up until it is collected. */
function unpacker() {
  let rows = new Uint16Array(0);
  return (/** @type {Uint8Array} */ blocks) => {
    const values = (blocks.length / BLOCK) * VALUES;
    if (rows.length < values) rows = new Uint16Array(values);
    toBf16(blocks, rows);
    return new Uint8Array(rows.buffer, 0, 2 * values);
  };
}

/**
 * Scale x byte in float32, which is exact, rounded to nearest, ties to even.
 * @param {Uint8Array} blocks @param {Uint16Array} rows
 */
function toBf16(blocks, rows) {
  const bytes = new Int8Array(blocks.buffer, blocks.byteOffset, blocks.length);
  const values = new Float32Array(VALUES);
  const bits = new Uint32Array(values.buffer);
  for (let at = 0, row = 0; at < blocks.length; at += BLOCK, row += VALUES) {
    const scale = half(blocks[at] | (blocks[at + 1] << 8));
    for (let k = 0; k < VALUES; k++) values[k] = bytes[at + 2 + k] * scale;
    for (let k = 0; k < VALUES; k++) rows[row + k] = (bits[k] + 0x7fff + ((bits[k] >>> 16) & 1)) >>> 16;
  }
}

/** The number that a float16 is (IEEE 754). @param {number} bits */
function half(bits) {
  const exponent = (bits >> EXPONENT_BITS) & LARGEST_EXPONENT;
  const fraction = bits & ((1 << EXPONENT_BITS) - 1);
  const size =
    exponent === LARGEST_EXPONENT
      ? NaN
      : exponent === 0
        ? fraction * 2 ** (1 - BIAS - EXPONENT_BITS)
        : (fraction + (1 << EXPONENT_BITS)) * 2 ** (exponent - BIAS - EXPONENT_BITS);
  return bits & SIGN ? -size : size;
}
