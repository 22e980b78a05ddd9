// Choices that follow from a secret and a value, the same in every program.
import { hmac } from '@noble/hashes/hmac.js';
import { sha256 } from '@noble/hashes/sha2.js';

const LABEL = 'gatelink.redaction.1';
const BYTE_CHOICES = 16;
/** What of a code hangs on its secret alone. @type {WeakMap<Uint8Array, ReturnType<typeof hmac.create>>} */
const begun = new WeakMap();

/** Of one attempt for one value: 32 bytes of HMAC-SHA-256 (RFC 2104), taken from the first. */
export class Draws {
  /** @param {Uint8Array} secret @param {string} kind @param {string} key @param {number} attempt */
  constructor(secret, kind, key, attempt) {
    const code = begun.get(secret) ?? hmac.create(sha256, secret);
    begun.set(secret, code);
    this._bytes = code.clone().update(new TextEncoder().encode([LABEL, kind, key, String(attempt)].join('\0'))).digest();
    this._at = 0;
  }

  /** From 0; one byte for up to 16 choices, two for more. @param {number} count */
  below(count) {
    let drawn = this._byte();
    if (count > BYTE_CHOICES) drawn = (drawn << 8) | this._byte();
    return drawn % count;
  }

  /** @template T @param {ArrayLike<T>} choices @returns {T} */
  oneOf(choices) {
    return choices[this.below(choices.length)];
  }

  /** @param {number} count */
  digits(count) {
    let made = '';
    for (let i = 0; i < count; i++) made += this.below(10);
    return made;
  }

  /** A digit for each digit, a capital for each letter; a letter takes one byte too, so that 32 of them suffice. @param {string} characters */
  like(characters) {
    return Array.from(characters, (each) => {
      const drawn = this._byte();
      return /[0-9]/.test(each) ? String(drawn % 10) : String.fromCharCode(65 + (drawn % 26));
    }).join('');
  }

  _byte() {
    if (this._at >= this._bytes.length) throw new RangeError('a surrogate needs more than 32 bytes');
    return this._bytes[this._at++];
  }
}
