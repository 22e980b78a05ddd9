import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Alignment } from '../../src/redaction/alignment.js';

// "Hi Anna, hi Bo" is "Hi Erika, hi Xaver".
const NAMES = new Alignment([{ from: 3, to: 7, at: 3, end: 8 }, { from: 12, to: 14, at: 13, end: 18 }], 14, 18);

test('what was not replaced keeps its place, what was goes by shares', () => {
  assert.deepEqual([0, 3, 7, 9, 12, 14].map((place) => NAMES.of(place)), [0, 3, 8, 10, 13, 18]);
  assert.deepEqual([4, 5, 6].map((place) => NAMES.of(place)), [4, 5, 6]);
  assert.deepEqual([0, 3, 8, 13, 18].map((place) => NAMES.back.of(place)), [0, 3, 7, 12, 14]);
  assert.equal(NAMES.of(99), 18);
  assert.equal(Alignment.same('abc').of(2), 2);
});

test('a part of a piece is all of it', () => {
  assert.deepEqual(NAMES.around(4, 5), [3, 8]);
  assert.deepEqual(NAMES.around(0, 13), [0, 18]);
  assert.deepEqual(NAMES.around(7, 12), [8, 13]);
});

test('values of units are carried there and back', () => {
  const units = Uint16Array.from({ length: 14 }, (_, i) => i);
  const carried = NAMES.carried(units);
  assert.equal(carried.length, 18);
  assert.deepEqual([...carried], [0, 1, 2, 3, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 12, 12, 13, 13]);
  assert.deepEqual([...NAMES.back.carried(carried)].filter((_, i) => i < 3 || (i >= 7 && i < 12)), [0, 1, 2, 7, 8, 9, 10, 11]);
  assert.deepEqual([...Alignment.same('abc').carried(Uint16Array.of(5, 6, 7))], [5, 6, 7]);
});
