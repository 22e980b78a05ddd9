import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Deadline } from '../../../src/ends/gpu/deadline.js';
import { FakeTimers } from './fake_gpu.js';

test('what comes in time is handed on, failures too', async () => {
  const deadline = new Deadline(4, new FakeTimers());
  assert.equal(await deadline.of(Promise.resolve(7)), 7);
  await assert.rejects(deadline.of(Promise.reject(new TypeError('no'))), TypeError);
});

test('what never comes is lost once the time is up, all of it', async () => {
  const timers = new FakeTimers();
  const deadline = new Deadline(4, timers);
  const first = deadline.of(new Promise(() => {}));
  const second = deadline.of(new Promise(() => {}));
  timers.pass(3999);
  assert.equal(deadline.passed, false);
  timers.pass(1);
  await assert.rejects(first, { code: 'gpu_lost' });
  await assert.rejects(second, { code: 'gpu_lost' });
  await assert.rejects(deadline.of(new Promise(() => {})), { code: 'gpu_lost' });
});

test('a timer that fires late, after a sleep, does not use up all of the time', () => {
  const timers = new FakeTimers();
  const deadline = new Deadline(4, timers);
  const [{ work }] = timers.waiting.values();
  timers.waiting.clear();
  timers.now = 3_600_000;
  work();
  assert.deepEqual([deadline.passed, timers.waiting.size], [false, 1]);
});

test('an ended deadline leaves no timer', () => {
  const timers = new FakeTimers();
  new Deadline(4, timers).end();
  assert.equal(timers.waiting.size, 0);
});
