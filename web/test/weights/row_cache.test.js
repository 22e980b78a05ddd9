import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RowCache } from '../../src/weights/row_cache.js';

/** @param {number} value */
const row = (value) => Uint8Array.of(value, value + 100);

test('rows that were kept are copied to where they are wanted, others are not there', () => {
  const cache = new RowCache(3, 2);
  cache.keep(7, row(1));
  cache.keep(0, row(2));
  const into = new Uint8Array(6);
  assert.ok(cache.copy(0, into, 2));
  assert.ok(cache.copy(7, into, 4));
  assert.ok(!cache.copy(1, into, 0));
  assert.deepEqual([...into], [0, 0, 2, 102, 1, 101]);
});

test('the row that was not used for longest makes room, and a row kept again takes none', () => {
  const cache = new RowCache(2, 2);
  const into = new Uint8Array(2);
  cache.keep(1, row(1));
  cache.keep(2, row(2));
  cache.keep(2, row(3));
  assert.ok(cache.copy(1, into, 0));
  cache.keep(3, row(4));
  assert.ok(!cache.copy(2, into, 0));
  assert.ok(cache.copy(1, into, 0));
  assert.deepEqual(into, row(1));
  assert.ok(cache.copy(3, into, 0));
  assert.deepEqual(into, row(4));
});

test('rows come from a model as it is after thousands of random uses', () => {
  const limit = 37;
  const cache = new RowCache(limit, 2);
  /** @type {number[]} the oldest first */
  const used = [];
  let state = 1;
  for (let step = 0; step < 5000; step += 1) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    const index = (state >>> 8) % 90;
    const into = new Uint8Array(2);
    const known = used.includes(index);
    assert.equal(cache.copy(index, into, 0), known);
    if (known) used.splice(used.indexOf(index), 1);
    else cache.keep(index, row(index));
    used.push(index);
    if (used.length > limit) used.shift();
    if (known) assert.deepEqual(into, row(index));
  }
});

test('a cache that was cleared keeps nothing more', () => {
  const cache = new RowCache(2, 2);
  cache.keep(1, row(1));
  cache.clear();
  cache.keep(2, row(2));
  for (const index of [1, 2]) assert.ok(!cache.copy(index, new Uint8Array(2), 0));
});
