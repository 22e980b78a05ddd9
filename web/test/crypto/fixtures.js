// What tests of encrypted adapters share: the compiled ring, known numbers in place of random ones, a host.
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { A, Ring } from '../../src/crypto/ring.js';
import { KeyServer } from '../../src/crypto/server.js';
import { Keyring } from '../../src/crypto/keyring.js';
import { readModule } from '../ends/fixtures.js';

/** The shared vectors. */
export const VECTORS = JSON.parse(readFileSync(new URL('../../../tests/vectors/he.json', import.meta.url), 'utf8'));

export const openRing = () => Ring.open(readModule);

/**
 * Bytes of SHAKE-256 of a name, each given once.
 * @param {string} name @returns {import('../../src/crypto/entropy.js').Entropy}
 */
export function streamOf(name) {
  let taken = 0;
  return (count) => {
    const digest = createHash('shake256', { outputLength: taken + count }).update(name).digest();
    const bytes = new Uint8Array(digest.subarray(taken));
    taken += count;
    return bytes;
  };
}

/** @param {Uint8Array} bytes */
export const sha256 = (bytes) => createHash('sha256').update(bytes).digest('hex');

/** @param {string} hex */
export const bytesOf = (hex) => new Uint8Array(Buffer.from(hex, 'hex'));

/** Digest of the polynomial at a place, as it is packed. @param {Ring} ring @param {number} [at] */
export function digestAt(ring, at = A) {
  const packed = new Uint8Array(13_824);
  ring.pack(at, packed);
  return sha256(packed);
}

/** Numbers of a stream, as README.md of the vectors says. @param {string} name @param {number} count */
export function numbersOf(name, count) {
  const bytes = streamOf(name)(2 * count);
  const view = new DataView(bytes.buffer);
  return Float32Array.from({ length: count }, (_, i) => (view.getUint16(2 * i, true) - 32_768) / 4096);
}

/** @param {Record<string, number>} document @returns {import('../../src/crypto/layout.js').Packing} */
export function packingOf({ hidden, rank, chunks, groups, chunk, ...scales }) {
  const { input_scale: inputScale, weight_scale: weightScale, norm_bound: normBound } = scales;
  return { hidden, rank, chunks, groups, chunk, inputScale, weightScale, normBound };
}

/** The bits of doubles, most significant digit first. @param {Float64Array} values */
export function bitsOf(values) {
  const view = new DataView(new ArrayBuffer(8));
  return [...values].map((value) => {
    view.setFloat64(0, value);
    return Buffer.from(view.buffer).toString('hex');
  });
}

/**
 * A keyring whose worker runs in this thread, with the entropy of a stream.
 * @param {{entropy?: import('../../src/crypto/entropy.js').Entropy, asked?: any[], ring?: () => Promise<Ring>}} [options]
 */
export function keyringHere({ entropy = streamOf('test'), asked = [], ring = openRing } = {}) {
  return new Keyring(() => {
    const worker = { onmessage: null, onerror: null, terminated: false, terminate: () => void (worker.terminated = true) };
    const server = new KeyServer(ring, entropy, (data) => /** @type {any} */ (worker).onmessage?.({ data }));
    return /** @type {any} */ (Object.assign(worker, {
      postMessage: (/** @type {any} */ question) => {
        asked.push(question);
        void server.receive(question);
      },
    }));
  });
}
