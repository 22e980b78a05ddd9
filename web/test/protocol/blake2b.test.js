import assert from 'node:assert/strict';
import { test } from 'node:test';
import { blake2b } from '@noble/hashes/blake2.js';
import { Blake2b } from '../../src/protocol/blake2b.js';

const encode = (/** @type {string} */ text) => new TextEncoder().encode(text);

/** @param {Blake2b} hash @param {Uint8Array} message */
function digest(hash, message) {
  hash.message(message.length).set(message);
  return hash.digest(message.length);
}

test('it gives the example of RFC 7693, appendix A', () => {
  const expected =
    'ba80a53f981c4d0d6a2797b69f12f6e94c212f14685ac4b74b12bb6fdbffa2d1' +
    '7d87c5392aab792dc252d5de4533cc9518d38aa8dbf1925ab92386edd4009923';
  const found = digest(new Blake2b(64, new Uint8Array(16)), encode('abc'));
  assert.equal(Buffer.from(found).toString('hex'), expected);
});

test('digests of messages of every length around blocks are those of another implementation', () => {
  const personalization = encode('split.v1 prefix\0');
  const hash = new Blake2b(16, personalization);
  const lengths = [...Array(400).keys(), 1792, 65_536 - 64, 65_536, 262_145, 3];
  for (const length of lengths) {
    const message = Uint8Array.from({ length }, (_, i) => (i * 167 + length * 13) >>> 3);
    assert.deepEqual(digest(hash, message), blake2b(message, { dkLen: 16, personalization }));
  }
});
