import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkSpec, finishBiased, lowestRival } from '../../src/ends/spec.js';
import { PLAIN, normal } from './fixtures.js';

const SPECS = [
  PLAIN,
  { ...PLAIN, softcap: 30 },
  { ...PLAIN, softcap: 0.5, scale: 3 },
  { ...PLAIN, scale: 6, divide: true },
  { ...PLAIN, scale: 0.0625 },
];

test('scale, then cap, in float32 steps', () => {
  const value = Math.fround(1.1);
  const scaled = Math.fround(value / Math.fround(0.3));
  assert.equal(finishBiased({ ...PLAIN, scale: 0.3, divide: true }, Float32Array.of(value))[0], scaled);
  const times = Math.fround(value * Math.fround(0.3));
  assert.equal(finishBiased({ ...PLAIN, scale: 0.3 }, Float32Array.of(value))[0], times);
  const capped = finishBiased({ ...PLAIN, softcap: 2 }, Float32Array.of(1, 1000, -1000));
  assert.ok(Math.abs(capped[0] - 2 * Math.tanh(0.5)) < 2e-7);
  assert.deepEqual([...capped.subarray(1)], [2, -2]);
});

test('nothing below the lowest rival reaches the logit', () => {
  for (const spec of SPECS) {
    for (const value of [...normal(200, 1, 3), 0, 40, -40]) {
      const biased = Math.fround(value);
      const floor = lowestRival(spec, biased);
      assert.ok(floor <= biased);
      if (!Number.isFinite(floor)) continue;
      const below = Math.fround(floor - Math.abs(floor) * 1e-6 - 1e-20);
      const [own, other] = finishBiased(spec, Float32Array.of(biased, below));
      assert.ok(other < own, `${below} gives ${other}, ${biased} gives ${own}`);
    }
  }
});

test('a saturated cap has rivals everywhere', () => {
  assert.equal(lowestRival({ ...PLAIN, softcap: 1 }, -50), -Infinity);
});

test('numbers out of range are refused', () => {
  for (const spec of [{ ...PLAIN, scale: NaN }, { ...PLAIN, scale: -1 }, { ...PLAIN, softcap: 0 }]) {
    assert.throws(() => checkSpec(spec, 5), { code: 'invalid_head_spec' });
  }
  checkSpec({ ...PLAIN, bias: new Float32Array(5), softcap: 30 }, 5);
});
