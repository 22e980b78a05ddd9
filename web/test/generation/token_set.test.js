import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TokenSet } from '../../src/generation/token_set.js';

test('few members, few others, or neither', () => {
  const few = TokenSet.without([0, 1, 2, 3, 4, 5, 7], 10, 3);
  assert.deepEqual([few.size, few.members, few.others], [3, Int32Array.of(6, 8, 9), null]);
  const most = TokenSet.without(new Set([9, 2]), 10, 3);
  assert.deepEqual([most.size, most.members, most.others], [8, null, Int32Array.of(2, 9)]);
  const neither = TokenSet.without([0, 2, 4, 6, 8, 8], 10, 3);
  assert.deepEqual([neither.size, neither.members, neither.others], [5, null, null]);
  assert.deepEqual(neither.mask, Uint8Array.of(0, 1, 0, 1, 0, 1, 0, 1, 0, 1));
});

test('members of both sets are left', () => {
  const set = TokenSet.without([1, 4], 6).within(Uint8Array.of(1, 1, 0, 0, 1, 1));
  assert.deepEqual([set.size, set.members], [2, Int32Array.of(0, 5)]);
  assert.throws(() => set.within(Uint8Array.of(0, 1, 1, 1, 1, 0)), { code: 'nothing_allowed' });
});

test('nothing left and foreign tokens are refused', () => {
  assert.throws(() => TokenSet.without([0, 1, 2], 3), { code: 'nothing_allowed' });
  assert.throws(() => TokenSet.without([3], 3), { code: 'token_id_out_of_range' });
});
