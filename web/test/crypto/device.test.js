import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DeviceKeys } from '../../src/crypto/device.js';
import { systemEntropy } from '../../src/crypto/entropy.js';
import { Ring } from '../../src/crypto/ring.js';
import { VECTORS, numbersOf, openRing, packingOf, sha256, streamOf } from './fixtures.js';

const NONCE = new Uint8Array(32);
const ring = await openRing();
const packing = packingOf(VECTORS.exchange.packing);
// The query that the reply answers.
const hidden = numbersOf(`${VECTORS.exchange.query} state`, packing.hidden);
const reply = new Uint8Array(Buffer.from(VECTORS.exchange.reply, 'base64'));

/** @param {import('../../src/crypto/entropy.js').Entropy} [entropy] */
const keysOf = (entropy = systemEntropy) => DeviceKeys.generate(ring, NONCE, NONCE, entropy);

test('keys and queries are other ones every time', () => {
  const both = [keysOf(), keysOf()];
  assert.notEqual(sha256(both[0].public), sha256(both[1].public));
  const queries = [0, 0, 1].map((which) => sha256(both[which].encrypt(hidden, packing, systemEntropy)));
  assert.equal(new Set(queries).size, 3);
  for (const keys of both) keys.forget();
});

test('long requests of random bytes are served whole', () => {
  const bytes = systemEntropy(200_000);
  assert.equal(bytes.length, 200_000);
  // A part that was left out would be zeros.
  for (const at of [0, 65_536, 131_072, 196_608]) assert.ok(bytes.subarray(at, at + 64).some(Boolean), `${at}`);
});

const HOSTILE = {
  'cut short': (/** @type {Uint8Array} */ bytes) => bytes.subarray(0, -1),
  'one byte longer': (/** @type {Uint8Array} */ bytes) => Buffer.concat([bytes, Buffer.of(0)]),
  empty: () => new Uint8Array(),
  'another magic': changed(0, 0),
  'another version': changed(4, 2),
  'a query': changed(5, 2),
  'another number of polynomials': changed(6, 1),
  'very many polynomials': changed(7, 255),
  'a residue at the modulus': modulusIn(0),
  'a residue at the modulus in the second half': modulusIn(1),
  'nothing but ones': (/** @type {Uint8Array} */ bytes) => Uint8Array.from(bytes, (byte, i) => (i < 8 ? byte : 255)),
};

/** @param {number} at @param {number} value @returns {(bytes: Uint8Array) => Uint8Array} */
function changed(at, value) {
  return (bytes) => bytes.map((byte, i) => (i === at ? value : byte));
}

/** @param {number} polynomial @returns {(bytes: Uint8Array) => Uint8Array} */
function modulusIn(polynomial) {
  const q = BigInt(VECTORS.modulus);
  return (bytes) => {
    const made = bytes.slice();
    const at = 8 + polynomial * 13_824 + 13_824 - 27;
    for (let i = 0; i < 6; i++) made[at + i] = Number((q >> BigInt(8 * i)) & 255n);
    made[at + 6] = (made[at + 6] & 0xc0) | Number(q >> 48n);
    return made;
  };
}

for (const [name, change] of Object.entries(HOSTILE)) {
  test(`a reply that is malformed is refused: ${name}`, () => {
    const keys = keysOf();
    assert.throws(() => keys.decrypt(change(reply), packing), { code: 'malformed_ciphertext' });
    assert.equal(keys.decrypt(reply, packing).length, packing.rank);
    keys.forget();
  });
}

test('a state that is longer than was agreed, or no numbers, is not encrypted', () => {
  const keys = keysOf();
  const drawn = { count: 0 };
  const entropy = (/** @type {number} */ count) => {
    drawn.count += count;
    return systemEntropy(count);
  };
  for (const value of [NaN, Infinity, 3e38, packing.normBound * 1.01]) {
    const state = hidden.map((_, i) => (i ? 0 : value));
    assert.throws(() => keys.encrypt(state, packing, entropy), { code: 'adapter_out_of_range' });
  }
  assert.equal(drawn.count, 0);
  keys.forget();
});

test('nothing of keys that are forgotten, or of a state, stays in the memory', async () => {
  const own = await openRing();
  const bytes = /** @type {Uint8Array} */ (/** @type {any} */ (own)._bytes);
  const tables = 65_536 + 4 * 16_384;
  const keys = DeviceKeys.generate(own, NONCE, NONCE, streamOf('forgotten'));
  const secret = bytes.slice(tables + 65_536).some(Boolean);
  keys.encrypt(hidden, packing, systemEntropy);
  keys.decrypt(reply, packing);
  keys.forget();
  assert.ok(secret);
  // Behind the tables there is the stream of the query, which its seed tells to anybody.
  assert.ok(!bytes.subarray(tables + 512).some(Boolean));
});

test('more sets of keys than there is room for are refused, and forgotten ones make room', async () => {
  const own = await openRing();
  const all = Array.from({ length: 8 }, () => DeviceKeys.generate(own, NONCE, NONCE, systemEntropy));
  assert.throws(() => DeviceKeys.generate(own, NONCE, NONCE, systemEntropy), { code: 'encryption_unavailable' });
  all[3].forget();
  DeviceKeys.generate(own, NONCE, NONCE, systemEntropy);
});

test('a browser without random numbers encrypts nothing', () => {
  const { crypto } = globalThis;
  Object.defineProperty(globalThis, 'crypto', { value: undefined, configurable: true });
  try {
    assert.throws(() => keysOf(), { code: 'encryption_unavailable' });
  } finally {
    Object.defineProperty(globalThis, 'crypto', { value: crypto, configurable: true });
  }
});

test('without its module there is nothing to encrypt with', async () => {
  await assert.rejects(Ring.open(() => Promise.reject(new TypeError('gone'))), { code: 'encryption_unavailable' });
});
