import assert from 'node:assert/strict';
import { test } from 'node:test';
import { plainRecord } from '../../src/chats/plain.js';

test('plain values are copied', () => {
  const given = { top_k: 3, seed: '9', stop: ['a'], logit_bias: { 5: -1 }, on: true, none: null };
  const copy = plainRecord(given);
  assert.deepEqual(copy, given);
  assert.notEqual(copy?.logit_bias, given.logit_bias);
});

test('what is not plain is refused as a whole', () => {
  const refused = [
    null,
    [],
    'x',
    JSON.parse('{"__proto__": {"polluted": 1}}'),
    JSON.parse('{"a": {"constructor": 1}}'),
    { a: Number.NaN },
    { a: Infinity },
    { a: undefined },
    { a: 'x'.repeat(5000) },
    { ['k'.repeat(65)]: 1 },
    { a: { b: { c: { d: { e: 1 } } } } },
    { a: Array(5000).fill(0) },
  ];
  for (const value of refused) assert.equal(plainRecord(value), null);
  assert.equal(/** @type {any} */ ({}).polluted, undefined);
});
