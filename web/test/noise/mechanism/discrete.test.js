import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { test } from 'node:test';
import { BaseGaussian, discreteGaussian } from '../../../src/noise/mechanism/discrete.js';
import { thresholds } from '../../../src/noise/mechanism/thresholds.js';
import { bytes, vectors } from '../vectors.js';

/** @param {number} index @param {number} bits */
const more = (index, bits) => {
  const digest = createHash('shake256', { outputLength: bits / 8 }).update(Uint8Array.of(index)).digest('hex');
  return BigInt(`0x${digest}`);
};

test('every bit of every threshold is that of the Python client', () => {
  for (const { s, bits, count, first, sha256 } of vectors.thresholds) {
    const found = thresholds(s, bits);
    assert.equal(found.length, count);
    assert.equal(String(found[0]), first);
    assert.equal(createHash('sha256').update(found.join(' ')).digest('hex'), sha256);
  }
});

test('the same words give the same whole numbers', () => {
  const drawn = discreteGaussian(bytes(vectors.draws.words), more);
  assert.deepEqual([...drawn], vectors.draws.drawn);
});

test('a word that falls on a threshold is decided by further bits, and only such a word asks for them', () => {
  const { s, bits, drawn, asked } = vectors.ties;
  const words = new BigUint64Array(256).map((_, i) => BigInt(i) << 56n);
  /** @type {number[]} */
  const wanted = [];
  const found = new BaseGaussian(s, bits).draws(new Uint8Array(words.buffer), (index, count) => {
    wanted.push(index);
    return more(index, count);
  });
  assert.deepEqual([...found], drawn);
  assert.deepEqual(wanted, asked);
});
