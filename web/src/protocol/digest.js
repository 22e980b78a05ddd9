// The chained digest of the rows that a session has cached (docs/protocol.md, "The chained digest"):
// d[0] = H(manifest), d[i+1] = H(d[i] | dtype | row | scale), H = BLAKE2b (RFC 7693) of 16 bytes.
import { Blake2b } from './blake2b.js';
import { itemSize } from './tensor.js';

/** @typedef {import('./tensor.js').Tensor} Tensor */

const DIGEST_BYTES = 16;
const encoder = new TextEncoder();
const PERSONAL = encoder.encode('split.v1 prefix\0');
/** @type {Blake2b | null} made when it is first needed; nobody waits while it holds a message */
let made = null;

/** The one for all chains. */
function hash() {
  made ??= new Blake2b(DIGEST_BYTES, PERSONAL);
  return made;
}

/** Digests of every prefix of the cached rows. */
export class PrefixChain {
  /** @param {string} manifest its digest in hex */
  constructor(manifest) {
    const name = encoder.encode(manifest);
    hash().message(name.length).set(name);
    /** @type {Uint8Array[]} */
    this._digests = [hash().digest(name.length)];
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
   * @param {Uint8Array} [before] the digest of the first `start` rows, where the chain does not hold them yet
   */
  following(start, rows, before = this._digests[start]) {
    const tag = encoder.encode(rows.dtype);
    const width = rows.width * itemSize(rows.dtype);
    const head = DIGEST_BYTES + tag.length;
    const scale = rows.scales.length ? 4 : 0;
    const link = hash().message(head + width + scale);
    link.set(tag, DIGEST_BYTES);
    /** @type {Uint8Array[]} */
    const digests = [];
    let digest = before;
    for (let row = 0; row < rows.rows; row++) {
      link.set(digest);
      link.set(rows.data.subarray(row * width, (row + 1) * width), head);
      link.set(rows.scales.subarray(scale * row, scale * (row + 1)), head + width);
      digest = hash().digest(link.length);
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

/** @param {Uint8Array} a @param {Uint8Array} b */
export function equal(a, b) {
  return a.length === b.length && a.every((byte, i) => byte === b[i]);
}
