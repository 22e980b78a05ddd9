import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Grace } from '../../src/generation/grace.js';

/** Timers that run when they are told to. */
function timers() {
  /** @type {Set<() => void>} */
  const waiting = new Set();
  const later = (/** @type {() => void} */ run) => {
    waiting.add(run);
    return () => void waiting.delete(run);
  };
  return { waiting, later, elapse: () => waiting.forEach((run) => run()) };
}

test('it follows with a delay', () => {
  const { later, elapse } = timers();
  const stop = new AbortController();
  const grace = new Grace(stop.signal, 5, { wait: later });
  stop.abort();
  assert.deepEqual([grace.asked, grace.over], [true, false]);
  elapse();
  assert.deepEqual([grace.asked, grace.over], [true, true]);
});

test('one that was aborted before counts from now', () => {
  const { waiting, later } = timers();
  const grace = new Grace(AbortSignal.abort(), 5, { wait: later });
  assert.deepEqual([grace.asked, grace.over, waiting.size], [true, false, 1]);
});

test('closed, it follows no more and leaves no timer', () => {
  const { waiting, later } = timers();
  const stop = new AbortController();
  const grace = new Grace(stop.signal, 5, { wait: later });
  stop.abort();
  grace.close();
  assert.equal(waiting.size, 0);
  const other = new Grace(new AbortController().signal, 5, { wait: later });
  other.close();
  assert.equal(waiting.size, 0);
});

test('without a signal nothing is ever asked', () => {
  const grace = new Grace(undefined, 5);
  assert.deepEqual([grace.asked, grace.over, grace.signal.aborted], [false, false, false]);
  grace.close();
});

test('what cannot end by itself is not waited for', () => {
  const { waiting, later } = timers();
  const stop = new AbortController();
  let promising = true;
  const grace = new Grace(stop.signal, 5, { wait: later, promising: () => promising });
  promising = false;
  stop.abort();
  assert.deepEqual([grace.over, waiting.size], [true, 0]);
  assert.ok(new Grace(AbortSignal.abort(), 5, { wait: later, promising: () => promising }).over);
});
