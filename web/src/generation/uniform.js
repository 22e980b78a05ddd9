import { sha256 } from '@noble/hashes/sha2.js';

/**
 * Draw number `drawIndex` of `seed`: the first 53 bits (big-endian) of SHA-256(seed || drawIndex), both as
 * u64 little-endian, over 2^53.
 * @param {bigint} seed 0..2^64-1
 * @param {bigint | number} drawIndex 0..2^64-1
 * @returns {number} in [0, 1)
 */
export function uniform(seed, drawIndex) {
  const message = new DataView(new ArrayBuffer(16));
  message.setBigUint64(0, seed, true);
  message.setBigUint64(8, BigInt(drawIndex), true);
  const digest = sha256(new Uint8Array(message.buffer));
  const view = new DataView(digest.buffer, digest.byteOffset);
  return (view.getUint32(0) * 2 ** 21 + (view.getUint32(4) >>> 11)) / 2 ** 53;
}

/** @returns {bigint} a seed nobody can foresee */
export function randomSeed() {
  return crypto.getRandomValues(new BigUint64Array(1))[0];
}
