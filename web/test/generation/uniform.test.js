import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { randomSeed, uniform } from '../../src/generation/uniform.js';

test('draws follow their definition', () => {
  for (const [seed, index] of [[0n, 0n], [7n, 2n ** 40n], [2n ** 64n - 1n, 2n ** 64n - 1n]]) {
    const message = Buffer.alloc(16);
    message.writeBigUInt64LE(seed, 0);
    message.writeBigUInt64LE(index, 8);
    const digest = createHash('sha256').update(message).digest();
    assert.equal(uniform(seed, index), Number(digest.readBigUInt64BE(0) >> 11n) / 2 ** 53);
  }
});

test('an index may be a plain number', () => {
  assert.equal(uniform(5n, 3), uniform(5n, 3n));
});

test('random seeds are 64 bits', () => {
  const seeds = Array.from({ length: 64 }, randomSeed);
  assert.equal(new Set(seeds).size, 64);
  assert.ok(seeds.every((seed) => seed >= 0n && seed < 2n ** 64n));
  // The top bit is set in none of 64 with a probability of 2^-64.
  assert.ok(seeds.some((seed) => seed >= 2n ** 63n));
});
