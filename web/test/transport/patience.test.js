import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PATIENCE, delayOf, quietFor } from '../../src/transport/patience.js';

test('delays double up to their limit, half of them by chance', () => {
  assert.deepEqual([0, 1, 2, 99].map((attempt) => delayOf(PATIENCE, attempt, 1)), [0.1, 0.2, 0.4, 5]);
  assert.equal(delayOf(PATIENCE, 99, 0), 2.5);
});

test('silence behind a long frame may last longer', () => {
  assert.deepEqual([quietFor(PATIENCE, 0), quietFor(PATIENCE, 320_000)], [10, 20]);
});
