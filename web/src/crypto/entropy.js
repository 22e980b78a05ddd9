import { EncryptionUnavailable } from './errors.js';

/** So many bytes that nobody can predict. @typedef {(count: number) => Uint8Array<ArrayBuffer>} Entropy */

// The most that the Web Cryptography API gives at once.
const AT_ONCE = 65_536;

/** The browser's own (W3C Web Cryptography, getRandomValues). @type {Entropy} */
export function systemEntropy(count) {
  if (!globalThis.crypto?.getRandomValues) throw new EncryptionUnavailable('this browser has no random numbers');
  const bytes = new Uint8Array(count);
  for (let at = 0; at < count; at += AT_ONCE) crypto.getRandomValues(bytes.subarray(at, at + AT_ONCE));
  return bytes;
}
