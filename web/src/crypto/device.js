// The device's keys and its work per token: common/split_he/keys.py and device.py, byte for byte.
import { AdapterOutOfRange, Malformed } from './errors.js';
import { placesIn } from './layout.js';
import { N, POLYNOMIAL_BYTES, SEED_BYTES } from './params.js';
import { A, B } from './ring.js';
import { newKey, newQuery, polynomialsIn } from './wire.js';

/** @typedef {import('./layout.js').Packing} Packing */
/** @typedef {import('./entropy.js').Entropy} Entropy */

const KEY_LABEL = 'gatelink ckks public key 1';
const QUERY_LABEL = 'gatelink ckks query 1';
/** Random bytes for the errors of one polynomial. */
const ERROR_BYTES = 6 * N;

/** One secret key and its public key. The secret stays in the ring's memory. */
export class DeviceKeys {
  /**
   * @param {import('./ring.js').Ring} ring @param {number} secret where it is
   * @param {Uint8Array<ArrayBuffer>} publicKey bytes that travel
   */
  constructor(ring, secret, publicKey) {
    this._ring = ring;
    this._secret = secret;
    this.public = publicKey;
  }

  /**
   * New keys for one session. The public key is (b, a) with b = e - a s, where a follows from both nonces.
   * @param {import('./ring.js').Ring} ring
   * @param {Uint8Array} hostNonce [32] @param {Uint8Array} deviceNonce [32] @param {Entropy} entropy
   * @throws {import('./errors.js').EncryptionUnavailable}
   */
  static generate(ring, hostNonce, deviceNonce, entropy) {
    const { kernel } = ring;
    const secret = ring.take();
    try {
      ring.ternary(entropy, secret);
      kernel.forward(secret);
      kernel.asFactor(secret);
      ring.stream(KEY_LABEL, hostNonce, deviceNonce);
      kernel.uniform(B);
      kernel.multiply(B, secret);
      ring.encode(new Float32Array(), 1, A);
      ring.addErrors(entropy(ERROR_BYTES), 0, A);
      kernel.forward(A);
      kernel.subtract(A, B);
      const { bytes, at } = newKey();
      ring.pack(A, bytes.subarray(at));
      return new DeviceKeys(ring, secret, bytes);
    } catch (error) {
      ring.release(secret);
      throw error;
    } finally {
      ring.clear();
    }
  }

  /**
   * A query for a hidden state, different every time.
   * @param {Float32Array} hidden [H] @param {Packing} packing @param {Entropy} entropy
   * @returns {Uint8Array<ArrayBuffer>}
   * @throws {AdapterOutOfRange}
   */
  encrypt(hidden, packing, entropy) {
    const { _ring: ring } = this;
    const { kernel } = ring;
    requireWithin(hidden, packing);
    const seed = entropy(SEED_BYTES);
    const words = entropy(packing.chunks * ERROR_BYTES);
    const { bytes, at } = newQuery(packing, seed);
    ring.stream(QUERY_LABEL, seed);
    try {
      for (let chunk = 0; chunk < packing.chunks; chunk++) {
        kernel.uniform(B);
        kernel.multiply(B, this._secret);
        ring.encode(hidden.subarray(chunk * packing.chunk, (chunk + 1) * packing.chunk), packing.inputScale, A);
        ring.addErrors(words, chunk, A);
        kernel.forward(A);
        kernel.subtract(A, B);
        ring.pack(A, bytes.subarray(at + chunk * POLYNOMIAL_BYTES));
      }
    } finally {
      words.fill(0);
      ring.clear();
    }
    return bytes;
  }

  /**
   * A h [r] from a reply.
   * @param {Uint8Array} reply @param {Packing} packing
   * @returns {Float64Array}
   * @throws {Malformed}
   */
  decrypt(reply, packing) {
    const { _ring: ring } = this;
    const { kernel } = ring;
    const scale = packing.inputScale * packing.weightScale;
    const polynomials = polynomialsIn(reply, packing);
    const results = [];
    try {
      for (let group = 0; group < packing.groups; group++) {
        const good = ring.unpack(polynomials[2 * group], A) && ring.unpack(polynomials[2 * group + 1], B);
        if (!good) throw new Malformed('a residue is not below the modulus');
        kernel.multiply(B, this._secret);
        kernel.add(A, B);
        kernel.inverse(A);
        for (const place of placesIn(packing, group)) results.push(ring.coefficient(A, place) / scale);
      }
    } finally {
      ring.clear();
    }
    return Float64Array.from(results);
  }

  /** Overwrites the secret; nothing can be asked of it any more. */
  forget() {
    this._ring.release(this._secret);
  }
}

/** @param {Float32Array} hidden @param {Packing} packing @throws {AdapterOutOfRange} */
function requireWithin(hidden, { normBound }) {
  let squares = 0;
  for (const value of hidden) squares += value * value;
  const norm = Math.sqrt(squares);
  // NaN fails the comparison.
  if (!(norm <= normBound)) throw new AdapterOutOfRange(norm, normBound);
}
