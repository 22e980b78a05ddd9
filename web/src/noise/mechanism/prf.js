// Words for the noise of a row from a key: the same row of the same text gets the same noise.
//
// SHAKE-256 (FIPS 202) over an encoding in which every field is written after its length, byte for byte
// that of split_privacy.prf. Whoever lacks the key cannot tell its output from uniform bits.
import { blake2b } from '@noble/hashes/blake2.js';
import { shake256 } from '@noble/hashes/sha3.js';
import { BASE, SPREAD, WIDTH } from './discrete.js';
import { InvalidDerivation } from '../errors.js';

export const KEY_BYTES = 32;
const HISTORY_BYTES = 32;
const NAME_BYTES = 16;
const encoder = new TextEncoder();
const [ROW, MORE, NAME] = ['row', 'more', 'name'].map((word) => encoder.encode(word));

/**
 * What all rows of a conversation share. `key`: the conversation's, 32 secret bytes. `layer`: which rows
 * these are. `sigma` and `clip`: two values under one key would let their rows be solved for the embedding.
 * `model`: the manifest's digest. `codec`: how rows are rounded on their way.
 * @typedef {{key: Uint8Array, layer: string, sigma: number, clip: number, model: string, codec: string}}
 * Context
 */
/** One row: `token` at `position` after what `history` is the digest of.
 * @typedef {{position: number, token: number, history: Uint8Array}} RowName */

/** The streams of the rows of one context. */
export class RowStreams {
  /** @param {Context} context @throws {InvalidDerivation} */
  constructor({ key, layer, sigma, clip, model, codec }) {
    if (key.length !== KEY_BYTES) throw new InvalidDerivation(`a key has ${KEY_BYTES} bytes`);
    if (!(sigma > 0 && sigma < Infinity && clip > 0 && clip < Infinity)) {
      throw new InvalidDerivation('sigma and clip are finite numbers above 0');
    }
    const shape = [real(WIDTH), whole(BASE), whole(SPREAD)];
    const texts = [layer, model, codec].map((text) => encoder.encode(text));
    this._shared = shake256.create();
    const parts = [encoder.encode('split noise 2'), key, ...shape, real(sigma), real(clip), ...texts];
    this._shared.update(fields(parts));
  }

  /** `count` uniform 64-bit words for a row, little endian. @param {RowName} row @param {number} count */
  words(row, count) {
    return this._digest(8 * count, [ROW, encoded(row)]);
  }

  /**
   * `bits` (a multiple of 8) further bits for word `index` of a row, as a number.
   * @param {RowName} row @param {number} index @param {number} bits @returns {bigint}
   */
  more(row, index, bits) {
    const digest = this._digest(bits / 8, [MORE, encoded(row), whole(index)]);
    return digest.reduce((number, byte) => (number << 8n) | BigInt(byte), 0n);
  }

  /** 16 bytes that name this release; they tell nothing without the key. @param {RowName} row */
  name(row) {
    return this._digest(NAME_BYTES, [NAME, encoded(row)]);
  }

  /** @param {number} length bytes @param {Uint8Array[]} parts */
  _digest(length, parts) {
    return this._shared.clone().update(fields(parts)).xof(length);
  }
}

/**
 * For each token the digest of all tokens before it: BLAKE2b (RFC 7693) of each, keyed with the one before.
 * @param {number[]} tokens @param {Uint8Array} [before] the first one's; zeros: nothing is before it
 * @returns {Uint8Array[]}
 */
export function histories(tokens, before = new Uint8Array(HISTORY_BYTES)) {
  let digest = before;
  return tokens.map((token) => {
    const here = digest;
    digest = blake2b(whole(token), { key: here, dkLen: HISTORY_BYTES });
    return here;
  });
}

/** @param {RowName} row */
function encoded({ position, token, history }) {
  return fields([whole(position), whole(token), history]);
}

/** Each after its length. @param {Uint8Array[]} parts */
function fields(parts) {
  const size = parts.reduce((sum, part) => sum + 8 + part.length, 0);
  const bytes = new Uint8Array(size);
  let at = 0;
  for (const part of parts) {
    bytes.set(whole(part.length), at);
    bytes.set(part, at + 8);
    at += 8 + part.length;
  }
  return bytes;
}

/** Eight bytes, big endian. @param {number} value */
function whole(value) {
  const bytes = new Uint8Array(8);
  new DataView(bytes.buffer).setBigInt64(0, BigInt(value));
  return bytes;
}

/** A double, big endian. @param {number} value */
function real(value) {
  const bytes = new Uint8Array(8);
  new DataView(bytes.buffer).setFloat64(0, value);
  return bytes;
}
