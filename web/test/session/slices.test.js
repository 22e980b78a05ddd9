import assert from 'node:assert/strict';
import { test } from 'node:test';
import { lastStates, slicesOf } from '../../src/session/slices.js';

/** @param {any[]} slices */
const plain = (slices) => slices.map(({ start, stop, rows }) => [start, stop, rows]);

const NEW = { maxRows: 4, returnsRows: true, interactiveRows: 4 };
const OLD = { ...NEW, returnsRows: false, interactiveRows: 3 };

for (const [what, [start, end, rows], server, wanted] of /** @type {[string, [number, number, number], any, number[][]][]} */ ([
  ['a prompt is sent in steps of the size that the server takes', [0, 10, 1], NEW, [[0, 4, 1], [4, 8, 1], [8, 10, 1]]],
  ['a drafted step brings all its states', [8, 11, 3], NEW, [[8, 11, 3]]],
  ['what is missing goes in the step of the draft', [5, 9, 2], NEW, [[5, 9, 2]]],
  ['a draft over the end of a step is asked for in both', [0, 6, 4], NEW, [[0, 4, 2], [4, 6, 2]]],
  ['more states than a step has rows come from several', [1, 11, 10], NEW, [[1, 5, 4], [5, 9, 4], [9, 11, 2]]],
  ['an older server is sent the prompt before the draft', [0, 7, 3], OLD, [[0, 4, 1], [4, 7, 3]]],
  ['an older server takes what fits before the draft in a step of its own', [5, 9, 2], OLD, [[5, 7, 1], [7, 9, 2]]],
  ['an older server brings all states of a short step', [6, 9, 2], OLD, [[6, 9, 3]]],
  ['an older server is sent a single row as ever', [5, 9, 1], OLD, [[5, 9, 1]]],
])) {
  test(what, () => assert.deepEqual(plain(slicesOf(start, end, rows, server)), wanted));
}

test('an older server is asked for the last row or all of a step, whatever is wanted', () => {
  for (let start = 0; start < 10; start++) {
    for (let end = start + 1; end < 12; end++) {
      for (let rows = 1; rows <= end - start; rows++) {
        const slices = slicesOf(start, end, rows, OLD);
        assert.deepEqual([slices[0].start, slices.at(-1)?.stop], [start, end]);
        assert.ok(slices.every((slice) => slice.rows === 1 || slice.rows === slice.stop - slice.start));
        assert.ok(slices.reduce((sum, slice) => sum + slice.rows, 0) >= rows);
      }
    }
  }
});

test('the last states are those of the last rows, from as many steps as there are', () => {
  const slices = slicesOf(0, 6, 4, NEW);
  const { states, hidden } = lastStates([Float32Array.of(3, 3, 4, 4), Float32Array.of(5, 5, 6, 6)], slices, 4);
  assert.deepEqual([[...states], [...hidden]], [[3, 3, 4, 4, 5, 5, 6, 6], [6, 6]]);
  const alone = lastStates([Float32Array.of(1, 1), Float32Array.of(2, 2)], slicesOf(0, 6, 1, NEW), 1);
  assert.deepEqual([[...alone.states], [...alone.hidden]], [[2, 2], [2, 2]]);
});
