// Bytes of public keys, queries and replies (docs/ckks.md): exact lengths, and headers that must be the expected ones.
import { Malformed } from './errors.js';
import { POLYNOMIAL_BYTES, SEED_BYTES } from './params.js';

/** @typedef {import('./layout.js').Packing} Packing */

// GLHE, version 1.
const HEADER = [0x47, 0x4c, 0x48, 0x45, 1];
const HEADER_BYTES = 8;
const [KEY, QUERY, REPLY] = [1, 2, 3];

/** An empty key and where its polynomial begins. */
export function newKey() {
  return begun(KEY, 1, HEADER_BYTES);
}

/** An empty query with its seed, and where its polynomials begin. @param {Packing} packing @param {Uint8Array} seed */
export function newQuery({ chunks }, seed) {
  const made = begun(QUERY, chunks, HEADER_BYTES + SEED_BYTES);
  made.bytes.set(seed, HEADER_BYTES);
  return made;
}

/** The exact length of a reply. @param {Packing} packing */
export function replyBytes({ groups }) {
  return HEADER_BYTES + 2 * groups * POLYNOMIAL_BYTES;
}

/**
 * The polynomials of a reply, whose residues are still to be checked.
 * @param {Uint8Array} reply @param {Packing} packing
 * @returns {Uint8Array[]}
 * @throws {Malformed}
 */
export function polynomialsIn(reply, packing) {
  const count = 2 * packing.groups;
  const wanted = replyBytes(packing);
  if (reply.length !== wanted) throw new Malformed(`${reply.length} bytes instead of ${wanted}`);
  const { bytes } = begun(REPLY, 0, HEADER_BYTES, count);
  if (bytes.some((byte, at) => byte !== reply[at])) {
    throw new Malformed('another magic, version, kind or number of polynomials');
  }
  return Array.from({ length: count }, (_, i) => {
    const at = HEADER_BYTES + i * POLYNOMIAL_BYTES;
    return reply.subarray(at, at + POLYNOMIAL_BYTES);
  });
}

/** @param {number} kind @param {number} polynomials that follow @param {number} at where @param {number} [told] of them */
function begun(kind, polynomials, at, told = polynomials) {
  const bytes = new Uint8Array(at + polynomials * POLYNOMIAL_BYTES);
  bytes.set([...HEADER, kind, told & 0xff, told >> 8]);
  return { bytes, at };
}
