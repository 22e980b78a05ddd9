import assert from 'node:assert/strict';
import { test } from 'node:test';
import { shardCount } from '../../src/engine/download.js';

test('small heads get one worker, large ones two to four', () => {
  assert.deepEqual([shardCount(1e6, 8), shardCount(1e8, 1), shardCount(1e8, 3), shardCount(1e8, 16)], [1, 2, 3, 4]);
});
