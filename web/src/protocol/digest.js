// The chained digest of the rows that a session has cached (docs/protocol.md, "The chained digest"):
// d[0] = H(manifest), d[i+1] = H(d[i] | dtype | row | scale), H = BLAKE2b (RFC 7693) of 16 bytes.
import { blake2b } from '@noble/hashes/blake2.js';
import { itemSize } from './tensor.js';

/** @typedef {import('./tensor.js').Tensor} Tensor */

const DIGEST_BYTES = 16;
const encoder = new TextEncoder();
const START = blake2b.create({
  dkLen: DIGEST_BYTES,
  personalization: encoder.encode('split.v1 prefix\0'),
});

/** @param {Uint8Array<ArrayBuffer>} data @returns {Uint8Array} */
function hashed(data) {
  return START.clone().update(data).digest();
}

/** Digests of every prefix of the cached rows. */
export class PrefixChain {
  /** @param {string} manifest its digest in hex */
  constructor(manifest) {
    /** @type {Uint8Array[]} */
    this._digests = [hashed(encoder.encode(manifest))];
  }

  /** Cached positions. */
  get length() {
    return this._digests.length - 1;
  }

  /**
   * The digest of the first `position` rows.
   * @param {number} position
   */
  at(position) {
    return this._digests[position];
  }

  /**
   * The digests after each of `rows` appended at `start`; changes nothing.
   * @param {number} start
   * @param {Tensor} rows
   */
  following(start, rows) {
    const tag = encoder.encode(rows.dtype);
    const width = rows.width * itemSize(rows.dtype);
    const head = DIGEST_BYTES + tag.length;
    const scale = rows.scales.length ? 4 : 0;
    // One piece is hashed faster than its four parts.
    const link = new Uint8Array(head + width + scale);
    link.set(tag, DIGEST_BYTES);
    /** @type {Uint8Array[]} */
    const digests = [];
    let digest = this._digests[start];
    for (let row = 0; row < rows.rows; row++) {
      link.set(digest);
      link.set(rows.data.subarray(row * width, (row + 1) * width), head);
      link.set(rows.scales.subarray(scale * row, scale * (row + 1)), head + width);
      digest = hashed(link);
      digests.push(digest);
    }
    return digests;
  }

  /**
   * Keeps `start` positions and appends `digests`.
   * @param {number} start
   * @param {Uint8Array[]} digests
   */
  replace(start, digests) {
    this._digests.length = start + 1;
    for (const digest of digests) this._digests.push(digest);
  }
}
