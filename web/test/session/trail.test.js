import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Trail } from '../../src/session/trail.js';

const run = (/** @type {number} */ id, /** @type {number} */ length) => Array(length).fill(id);

test('ends are remembered once, and the oldest go first', () => {
  const trail = new Trail();
  for (let id = 0; id < 70; id++) for (let i = 0; i < 2; i++) trail.note(run(id, 20));
  assert.deepEqual(trail.ends.map(([id]) => id), Array.from({ length: 64 }, (_, i) => i + 6));
});

test('a beginning of another end is an end of its own, and what is too short for a name is none', () => {
  const trail = new Trail();
  for (const length of [40, 21, 15]) trail.note(run(1, length));
  assert.deepEqual(trail.ends.map((end) => end.length), [40, 21]);
  trail.clear();
  assert.deepEqual(trail.ends, []);
});
