import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  countReaching,
  firstExceeding,
  firstReaching,
  keptWeights,
  pick,
} from '../../src/generation/filters.js';
import { paramsFrom } from '../../src/generation/params.js';

test('a draw is the first candidate whose sum exceeds it', () => {
  const weights = Float64Array.of(1, 0.5, 0.5);
  const draws = [0, 0.49, 0.5, 0.74, 0.75, 1 - 2 ** -53];
  assert.deepEqual(draws.map((u) => pick(weights, u)), [0, 0, 1, 1, 2, 2]);
});

test('candidates without weight are never drawn', () => {
  assert.equal(pick(Float64Array.of(1, 1e-300, 0, 0), 1 - 2 ** -53), 0);
  assert.equal(pick(Float64Array.of(1, 1, 0), 1 - 2 ** -53), 1);
});

test('the smallest temperature keeps the first of equals', () => {
  const params = paramsFrom({ temperature: 5e-324 });
  assert.deepEqual([...keptWeights(Float64Array.of(3, 3, 2), params)], [1, 1, 0]);
});

test('searches tell the first place at or above a bound, and the end for NaN', () => {
  const sums = Float64Array.of(1, 2, 2, 3);
  const bounds = [0, 1, 2, 2.5, 3, 4, NaN];
  assert.deepEqual(bounds.map((bound) => firstReaching(sums, bound)), [0, 0, 1, 3, 3, 4, 4]);
  assert.deepEqual(bounds.map((bound) => firstExceeding(sums, bound)), [0, 1, 3, 3, 4, 4, 4]);
  const falling = Float64Array.of(3, 2, 2, 1);
  assert.deepEqual([4, 3, 2, 1.5, 1, 0].map((bound) => countReaching(falling, bound)), [0, 1, 3, 3, 4, 4]);
});

test('each filter sees what the one before it left', () => {
  const ranked = Float64Array.of(4, 3, 2, 1).map(Math.log);
  const kept = (/** @type {object} */ fields) =>
    keptWeights(ranked, paramsFrom({ temperature: 1, ...fields })).length;
  assert.equal(kept({ top_p: 0.75 }), 3); // 7 of 10 stand before the third
  assert.equal(kept({ top_k: 3, top_p: 0.75 }), 2); // 7 of 9 before the third
  assert.equal(kept({ top_k: 3, top_p: 0.75, min_p: 0.8 }), 1);
  assert.equal(kept({ top_k: 100 }), 4);
});
