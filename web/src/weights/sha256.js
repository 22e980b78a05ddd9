import { sha256 as inJavaScript } from '@noble/hashes/sha2.js';
import { bytesToHex } from '@noble/hashes/utils.js';

/**
 * SHA-256 (FIPS 180-4) in lower-case hexadecimal, by the browser where it offers it: http:// pages have no
 * `crypto.subtle`.
 * @param {Uint8Array} bytes
 * @returns {Promise<string>}
 */
export async function sha256(bytes) {
  const subtle = globalThis.crypto?.subtle;
  if (!subtle) return sha256Now(bytes);
  return bytesToHex(new Uint8Array(await subtle.digest('SHA-256', /** @type {BufferSource} */ (bytes))));
}

/** The same without waiting, in JavaScript. @param {Uint8Array} bytes @returns {string} */
export function sha256Now(bytes) {
  return bytesToHex(inJavaScript(bytes));
}
