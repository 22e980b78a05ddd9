import { blake2bCode, FREE, IV } from './blake2b_code.js';

const BLOCK = 128;
const STATE = 64;
const PAGE = 65536;

/** BLAKE2b (RFC 7693) without a key, of messages that are written into its own memory. */
export class Blake2b {
  /**
   * @param {number} digestBytes 1 to 64
   * @param {Uint8Array} personal 16 bytes that tell one use from others (the BLAKE2 paper, 2.8)
   */
  constructor(digestBytes, personal) {
    const { exports } = new WebAssembly.Instance(new WebAssembly.Module(blake2bCode()));
    this._memory = /** @type {WebAssembly.Memory} */ (exports.memory);
    this._compress = /** @type {(block: number, counted: number, last: number) => void} */ (exports.compress);
    this._digestBytes = digestBytes;
    this._start = new Uint8Array(startState(digestBytes, personal));
  }

  /**
   * Where a message is to be written; valid until the next call.
   * @param {number} length bytes
   */
  message(length) {
    const needed = FREE + BLOCK * Math.max(1, Math.ceil(length / BLOCK));
    const missing = needed - this._memory.buffer.byteLength;
    if (missing > 0) this._memory.grow(Math.ceil(missing / PAGE));
    return new Uint8Array(this._memory.buffer, FREE, length);
  }

  /** The digest of the message that was written. @param {number} length as asked for @returns {Uint8Array} */
  digest(length) {
    const memory = new Uint8Array(this._memory.buffer);
    const blocks = Math.max(1, Math.ceil(length / BLOCK));
    memory.fill(0, FREE + length, FREE + BLOCK * blocks);
    memory.set(this._start);
    for (let block = 1; block < blocks; block++) this._compress(FREE + BLOCK * (block - 1), BLOCK * block, 0);
    this._compress(FREE + BLOCK * (blocks - 1), length, -1);
    return memory.slice(0, this._digestBytes);
  }
}

/** @param {number} digestBytes @param {Uint8Array} personal */
function startState(digestBytes, personal) {
  const parameters = new DataView(new ArrayBuffer(STATE));
  parameters.setUint32(0, digestBytes | (1 << 16) | (1 << 24), true); // fanout 1, depth 1
  personal.forEach((byte, i) => parameters.setUint8(48 + i, byte));
  IV.forEach((word, i) => parameters.setBigUint64(8 * i, parameters.getBigUint64(8 * i, true) ^ word, true));
  return parameters.buffer;
}
