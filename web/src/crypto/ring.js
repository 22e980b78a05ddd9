// The compiled ring (wasm/ring.ts) with the places of its memory.
import { EncryptionUnavailable } from './errors.js';
import { N, POLYNOMIAL_BYTES } from './params.js';

/**
 * What wasm/ring.ts exports; arguments are described there.
 * @typedef {object} Kernel
 * @property {(at: number) => void} prepare
 * @property {(at: number) => void} forward
 * @property {(at: number) => void} inverse
 * @property {(at: number) => void} asFactor
 * @property {(at: number, factor: number) => void} multiply
 * @property {(at: number, other: number) => void} add
 * @property {(at: number, other: number) => void} subtract
 * @property {(source: number, count: number, scale: number, at: number) => void} encode
 * @property {(first: number, second: number, third: number, at: number) => void} addErrors
 * @property {(bytes: number, count: number, at: number, filled: number) => number} ternary
 * @property {(at: number, target: number) => void} pack
 * @property {(source: number, at: number) => number} unpack
 * @property {(at: number, source: number, length: number) => void} begin
 * @property {(at: number) => void} align
 * @property {(at: number) => void} uniform
 */

const NAME = 'ring.wasm';
const PAGE = 65_536;
const POLYNOMIAL = 8 * N;
/** Bytes of one list of 16-bit words for errors. */
const WORDS = 2 * N;
/** Sets of keys at a time: those of a reply, of the next one, and of some that are being given up. */
const SETS = 8;
// Below the first page lies what the compiler places.
const TABLES = PAGE;
const STREAM = TABLES + 4 * POLYNOMIAL;
const GROUP = STREAM + 256;
/** Two polynomials to work on. */
export const A = STREAM + 512;
export const B = A + POLYNOMIAL;
/** Bytes on their way in and out: a packed polynomial, words, a label, part of a hidden state. */
const BYTES = B + POLYNOMIAL;
const KEYS = BYTES + 16_384;
const PAGES = Math.ceil((KEYS + SETS * 2 * POLYNOMIAL) / PAGE);
const ascii = new TextEncoder();

export class Ring {
  /** @param {Kernel} kernel @param {WebAssembly.Memory} memory */
  constructor(kernel, memory) {
    this.kernel = kernel;
    this._bytes = new Uint8Array(memory.buffer);
    this._numbers = new BigInt64Array(memory.buffer);
    /** @type {Set<number>} */
    this._free = new Set(Array.from({ length: SETS }, (_, i) => KEYS + i * 2 * POLYNOMIAL));
    kernel.prepare(TABLES);
  }

  /**
   * @param {(name: string) => Promise<Uint8Array<ArrayBuffer>>} [read] the module of that name
   * @throws {EncryptionUnavailable}
   */
  static async open(read = readBeside) {
    try {
      const bytes = await read(NAME);
      const memory = new WebAssembly.Memory({ initial: PAGES, maximum: PAGES });
      const { instance } = await WebAssembly.instantiate(bytes, { env: { memory } });
      return new Ring(/** @type {Kernel} */ (/** @type {unknown} */ (instance.exports)), memory);
    } catch (error) {
      throw new EncryptionUnavailable(`${NAME} cannot be loaded`, error);
    }
  }

  /** Room for a secret key, which `release` gives back. @throws {EncryptionUnavailable} */
  take() {
    const [at] = this._free;
    if (at === undefined) throw new EncryptionUnavailable('too many keys are in use');
    this._free.delete(at);
    return at;
  }

  /** Overwrites a secret key. @param {number} at */
  release(at) {
    this._bytes.fill(0, at, at + 2 * POLYNOMIAL);
    this._free.add(at);
  }

  /** Overwrites what was worked on. */
  clear() {
    this._bytes.fill(0, A, KEYS);
  }

  /**
   * Begins a stream of uniform numbers that follows from a label and a seed.
   * @param {string} label @param {Uint8Array[]} seeds
   */
  stream(label, ...seeds) {
    let at = BYTES;
    for (const part of [ascii.encode(label), ...seeds]) {
      this._bytes.set(part, at);
      at += part.length;
    }
    this.kernel.begin(STREAM, BYTES, at - BYTES);
    this.kernel.align(GROUP);
  }

  /** @param {Float32Array} values @param {number} scale @param {number} at */
  encode(values, scale, at) {
    this._bytes.set(new Uint8Array(values.buffer, values.byteOffset, values.byteLength), BYTES);
    this.kernel.encode(BYTES, values.length, scale, at);
  }

  /** @param {Uint8Array} words of all polynomials @param {number} polynomial of them @param {number} at */
  addErrors(words, polynomial, at) {
    const list = words.length / 3;
    for (let i = 0; i < 3; i++) {
      const from = i * list + polynomial * WORDS;
      this._bytes.set(words.subarray(from, from + WORDS), BYTES + i * WORDS);
    }
    this.kernel.addErrors(BYTES, BYTES + WORDS, BYTES + 2 * WORDS, at);
  }

  /** Numbers -1, 0, 1. @param {import('./entropy.js').Entropy} entropy @param {number} at */
  ternary(entropy, at) {
    for (let filled = 0; filled < N; ) {
      const drawn = entropy(N - filled + N / 32);
      this._bytes.set(drawn, BYTES);
      filled = this.kernel.ternary(BYTES, drawn.length, at, filled);
    }
  }

  /** @param {number} at @param {Uint8Array} target */
  pack(at, target) {
    this.kernel.pack(at, BYTES);
    target.set(this._bytes.subarray(BYTES, BYTES + POLYNOMIAL_BYTES));
  }

  /** @param {Uint8Array} packed @param {number} at @returns {boolean} false: a residue is not below the modulus */
  unpack(packed, at) {
    this._bytes.set(packed, BYTES);
    return Boolean(this.kernel.unpack(BYTES, at));
  }

  /** @param {number} at @param {number} place @returns {number} a coefficient, exactly */
  coefficient(at, place) {
    return Number(this._numbers[at / 8 + place]);
  }
}

/** @param {string} name of a file that lies beside the script */
async function readBeside(name) {
  const answer = await fetch(new URL(`./${name}`, import.meta.url));
  if (!answer.ok) throw new EncryptionUnavailable(`${name} answered ${answer.status}`);
  return new Uint8Array(await answer.arrayBuffer());
}
