import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DeviceKeys } from '../../src/crypto/device.js';
import { placesIn, placesOf } from '../../src/crypto/layout.js';
import { A, B } from '../../src/crypto/ring.js';
import { VECTORS, bitsOf, bytesOf, digestAt, numbersOf, openRing, packingOf, sha256, streamOf } from './fixtures.js';

const ring = await openRing();
const { kernel } = ring;
const FIRST = VECTORS.keys[0];
const Q = BigInt(VECTORS.modulus);
const keysOf = (/** @type {any} */ { entropy, host_nonce: host, device_nonce: device }) =>
  DeviceKeys.generate(ring, bytesOf(host), bytesOf(device), streamOf(entropy));

/** Four residues in 27 bytes, plainly. @param {bigint[]} numbers */
function packed(numbers) {
  const whole = numbers.reduce((sum, number, i) => sum | (number << BigInt(54 * (i % 4))), 0n);
  return Uint8Array.from({ length: 27 }, (_, i) => Number((whole >> BigInt(8 * i)) & 255n));
}

test('packing, unpacking and the transform hold at the edges of the numbers', () => {
  const { numbers, packed: begins, sha256: digest, forward } = VECTORS.edges;
  const all = Array.from({ length: 2048 }, (_, i) => BigInt(numbers[i % numbers.length]));
  const bytes = Buffer.concat(Array.from({ length: 512 }, (_, i) => packed(all.slice(4 * i, 4 * i + 4))));
  assert.equal(bytes.subarray(0, 27).toString('hex'), begins);
  assert.ok(ring.unpack(bytes, A));
  assert.equal(digestAt(ring), digest);
  kernel.forward(A);
  assert.equal(digestAt(ring), forward);
  kernel.inverse(A);
  assert.equal(digestAt(ring), digest);
});

for (const { label, seed, uniform, forward } of VECTORS.transforms) {
  test(`${label}: the uniform polynomial and its values at the roots are Python's`, () => {
    ring.stream(label, bytesOf(seed));
    kernel.uniform(A);
    assert.equal(digestAt(ring), uniform);
    kernel.forward(A);
    assert.equal(digestAt(ring), forward);
    kernel.inverse(A);
    assert.equal(digestAt(ring), uniform);
  });
}

test('products at the roots are products of polynomials modulo x^N + 1', () => {
  const at = ring.take();
  ring.stream('product', new Uint8Array(32));
  kernel.uniform(A);
  kernel.uniform(at);
  const [left, right] = [A, at].map((place) => Array.from({ length: 2048 }, (_, i) => BigInt(ring.coefficient(place, i))));
  for (const place of [A, at]) kernel.forward(place);
  kernel.asFactor(at);
  kernel.multiply(A, at);
  kernel.inverse(A);
  for (const place of [0, 1, 1023, 2047]) {
    let sum = 0n;
    for (let i = 0; i < 2048; i++) sum += left[i] * right[(place - i + 2048) % 2048] * (i > place ? -1n : 1n);
    assert.equal((BigInt(ring.coefficient(A, place)) - sum) % Q, 0n, `coefficient ${place}`);
  }
  ring.release(at);
});

test('numbers of the stream that are not below the modulus are passed over', () => {
  const seed = new Uint8Array(32);
  const uniform = (/** @type {(block: Uint8Array) => void} */ change) => {
    ring.stream('passed over', seed);
    change(/** @type {any} */ (ring)._bytes.subarray(65_536 + 4 * 16_384));
    kernel.uniform(A);
    kernel.uniform(B);
    return [A, B].flatMap((at) => Array.from({ length: 2048 }, (_, i) => ring.coefficient(at, i)));
  };
  const plain = uniform(() => {});
  // The first two numbers of the first group; the largest of 54 bits is beyond the modulus.
  const passed = uniform((block) => {
    block.fill(255, 0, 13);
    block[13] |= 15;
  });
  // All of the first block, which was changed; it is what the next one is made of.
  assert.deepEqual(passed.slice(0, 18), plain.slice(2, 20));
  assert.equal(new Set(passed).size, 4096);
});

for (const { entropy, sha256: digest } of VECTORS.ternary) {
  test(`${entropy}: ternary numbers are Python's`, () => {
    ring.ternary(streamOf(entropy), A);
    assert.equal(digestAt(ring), digest);
  });
}

for (const { entropy, polynomials, sha256: digest } of VECTORS.errors) {
  test(`${entropy}: errors are Python's`, () => {
    const words = streamOf(entropy)(polynomials * 12_288);
    const bytes = Buffer.alloc(polynomials * 13_824);
    for (let i = 0; i < polynomials; i++) {
      ring.encode(new Float32Array(), 1, A);
      ring.addErrors(words, i, A);
      ring.pack(A, bytes.subarray(i * 13_824));
    }
    assert.equal(sha256(bytes), digest);
  });
}

for (const vector of VECTORS.keys) {
  test(`${vector.entropy}: secret and public key are Python's`, () => {
    ring.stream('gatelink ckks public key 1', bytesOf(vector.host_nonce), bytesOf(vector.device_nonce));
    kernel.uniform(A);
    assert.equal(digestAt(ring), vector.uniform);
    const keys = keysOf(vector);
    assert.equal(digestAt(ring, /** @type {any} */ (keys)._secret), vector.secret);
    assert.equal(Buffer.from(keys.public.subarray(0, 32)).toString('hex'), vector.begins);
    assert.equal(sha256(keys.public), vector.public);
    keys.forget();
  });
}

for (const { hidden, rank, places, used } of VECTORS.places) {
  test(`${hidden} x ${rank}: the places are Python's`, () => {
    const made = placesOf(hidden, rank);
    assert.deepEqual([made.chunks, made.groups, made.chunk], places);
    const packing = packingOf({ hidden, rank, chunks: made.chunks, groups: made.groups, chunk: made.chunk });
    const groups = Array.from({ length: made.groups }, (_, group) => placesIn(packing, group));
    assert.deepEqual(groups.map((all) => [all.length, all[0], all.at(-1)]), used);
  });
}

for (const { packing, state, entropy, bytes, begins, sha256: digest } of VECTORS.queries) {
  test(`${packing.hidden} x ${packing.rank}: a query has the bytes of Python's`, () => {
    const keys = keysOf(FIRST);
    const query = keys.encrypt(numbersOf(state, packing.hidden), packingOf(packing), streamOf(entropy));
    assert.equal(query.length, bytes);
    assert.equal(Buffer.from(query.subarray(0, 64)).toString('hex'), begins);
    assert.equal(sha256(query), digest);
    keys.forget();
  });
}

/** @param {any} vector */
function replyOf({ packing, label, seed }) {
  const reply = new Uint8Array(8 + 2 * packing.groups * 13_824);
  reply.set([0x47, 0x4c, 0x48, 0x45, 1, 3, 2 * packing.groups, 0]);
  ring.stream(label, bytesOf(seed));
  for (let i = 0; i < 2 * packing.groups; i++) {
    kernel.uniform(A);
    ring.pack(A, reply.subarray(8 + i * 13_824));
  }
  return reply;
}

for (const vector of VECTORS.replies) {
  test(`${vector.label}: any reply decrypts to what it does in Python`, () => {
    const reply = replyOf(vector);
    assert.equal(sha256(reply), vector.sha256);
    const keys = keysOf(FIRST);
    assert.deepEqual(bitsOf(keys.decrypt(reply, packingOf(vector.packing))), vector.product);
    keys.forget();
  });
}

test("what Python's host answers decrypts to the product in the clear", () => {
  const { packing, reply, product, clear, within } = VECTORS.exchange;
  const keys = keysOf(FIRST);
  const found = keys.decrypt(new Uint8Array(Buffer.from(reply, 'base64')), packingOf(packing));
  assert.deepEqual(bitsOf(found), product);
  found.forEach((value, i) => assert.ok(Math.abs(value - clear[i]) < within, `result ${i}`));
  keys.forget();
});
