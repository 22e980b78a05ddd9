import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TokenSet } from '../../src/generation/token_set.js';

test('few members, few others, or neither', () => {
  const few = new TokenSet([0, 1, 2, 3, 4, 5, 7], 10, 3);
  assert.deepEqual([few.size, few.members, few.others], [3, Int32Array.of(6, 8, 9), null]);
  const most = new TokenSet(new Set([9, 2]), 10, 3);
  assert.deepEqual([most.size, most.members, most.others], [8, null, Int32Array.of(2, 9)]);
  const neither = new TokenSet([0, 2, 4, 6, 8, 8], 10, 3);
  assert.deepEqual([neither.size, neither.members, neither.others], [5, null, null]);
  assert.deepEqual(neither.mask, Uint8Array.of(0, 1, 0, 1, 0, 1, 0, 1, 0, 1));
});

test('nothing left and foreign tokens are refused', () => {
  assert.throws(() => new TokenSet([0, 1, 2], 3), { code: 'nothing_allowed' });
  assert.throws(() => new TokenSet([3], 3), { code: 'token_id_out_of_range' });
});
