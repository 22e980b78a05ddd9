import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Retry } from '../../../src/ui/machine/retry.js';

function harness() {
  /** @type {{tries: number, timer: {run: () => void, ms: number} | null}} */
  const state = { tries: 0, timer: null };
  const timers = {
    set: (/** @type {() => void} */ run, /** @type {number} */ ms) => (state.timer = { run, ms }),
    clear: () => void (state.timer = null),
  };
  const retry = new Retry(() => void state.tries++, timers);
  return { state, retry };
}

test('waits grow up to a minute and begin anew after a success', () => {
  const { retry } = harness();
  const waits = Array.from({ length: 7 }, () => retry.wait());
  assert.deepEqual(waits, [2, 4, 8, 16, 32, 60, 60]);
  retry.succeeded();
  assert.equal(retry.wait(), 2);
});

test('a change of the network tries at once, and only where a try is awaited', () => {
  const { state, retry } = harness();
  retry.now();
  assert.equal(state.tries, 0);
  retry.wait();
  retry.now();
  retry.now();
  assert.deepEqual([state.tries, state.timer], [1, null]);
});

test('a wait that ends tries once', () => {
  const { state, retry } = harness();
  retry.wait();
  const run = state.timer?.run;
  run?.();
  run?.();
  assert.equal(state.tries, 1);
});
