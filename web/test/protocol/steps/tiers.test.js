import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cacheAsked, inexactWithin, tiersField } from '../../../src/protocol/steps/tiers.js';

test('positions that are not exact are the last ones of those that are held', () => {
  const tiers = { int8: 3, approximate: 2 };
  assert.deepEqual([0, 5, 6, 8, 10, 99].map((first) => inexactWithin(tiers, 10, first)), [0, 0, 1, 3, 5, 5]);
  assert.equal(inexactWithin({}, 10, 10), 0);
  assert.equal(inexactWithin({ int8: 20 }, 10, 4), 4);
});

test('what may be asked for is told to who asks for something else', () => {
  assert.deepEqual([null, 'exact', 'int8', 'off'].map((asked) => cacheAsked(asked)), ['exact', 'exact', 'int8', 'off']);
  assert.throws(() => cacheAsked('nearly'), { code: 'unknown_cache', message: /'approximate' or 'off', and not 'nearly'/ });
});

test('a tier without positions, and one of another name, are left out', () => {
  /** @type {[string, unknown][]} */
  const sent = [['int8', 3], ['approximate', 0], ['later', 'x']];
  assert.deepEqual(tiersField(new Map(sent)), { int8: 3 });
  assert.deepEqual(tiersField(null), {});
});
