import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Toasts } from '../../../src/ui/state/toasts.js';

function harness() {
  /** @type {{run: () => void, ms: number}[]} */
  const timers = [];
  return { timers, toasts: new Toasts((run, ms) => timers.push({ run, ms })) };
}

test('a toast goes by itself, later where it can be acted on', () => {
  const { timers, toasts } = harness();
  toasts.show('told');
  toasts.show('asked', { label: 'Undo', run: () => {} });
  assert.ok(timers[1].ms > timers[0].ms);
  timers[0].run();
  assert.deepEqual(toasts.shown.value.map(({ text }) => text), ['asked']);
});

test('an action runs once and takes its toast away', () => {
  const { toasts } = harness();
  let runs = 0;
  toasts.show('deleted', { label: 'Undo', run: () => void runs++ });
  toasts.shown.value[0].action?.run();
  assert.deepEqual([runs, toasts.shown.value], [1, []]);
});

test('the same words stand once, and three toasts at most', () => {
  const { toasts } = harness();
  for (const text of ['a', 'a', 'b', 'c', 'd']) toasts.show(text);
  assert.deepEqual(toasts.shown.value.map(({ text }) => text), ['b', 'c', 'd']);
});
