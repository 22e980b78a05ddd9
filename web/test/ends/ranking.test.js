import assert from 'node:assert/strict';
import { test } from 'node:test';
import { kthLargest, rank, rankAll } from '../../src/ends/ranking.js';
import { firstOf, normal, uniform } from './fixtures.js';

test('tokens rank by falling logit, equal ones by rising id', () => {
  const { ids, logits } = rank(Int32Array.of(9, 4, 7, 1), Float32Array.of(2, 3, 3, 2));
  assert.deepEqual([[...ids], [...logits]], [[4, 7, 1, 9], [3, 3, 2, 2]]);
});

test('the first k of all are those of a full sort, ties and -Infinity included', () => {
  const next = uniform(1);
  for (const count of [1, 15, 16, 17, 1000, 4097]) {
    const smooth = normal(count, count);
    const ties = Float32Array.from({ length: count }, () => Math.floor(next() * 4));
    const gaps = smooth.map((value) => (value > 0.5 ? -Infinity : value));
    for (const logits of [smooth, ties, gaps, smooth.slice().sort()]) {
      for (const k of [1, 2, count >> 1, count].filter((size) => size > 0 && size <= count)) {
        const found = rankAll(logits, k);
        assert.deepEqual([...found.ids], firstOf(logits, k));
        assert.deepEqual([...found.logits], firstOf(logits, k).map((id) => logits[id]));
      }
    }
  }
});

test('the k-th largest', () => {
  const values = Float32Array.of(3, -1, 7, 7);
  assert.deepEqual([1, 2, 3, 4].map((k) => kthLargest(values, k)), [7, 7, 3, -1]);
  assert.equal(kthLargest(values, 0), Infinity);
});
