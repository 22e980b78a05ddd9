import assert from 'node:assert/strict';
import { test } from 'node:test';
import { endsFailed } from '../../src/ends/errors.js';
import { WorkerLink } from '../../src/ends/links.js';

/** A worker that keeps what it is sent. @param {number} [patience] seconds */
function linked(patience) {
  /** @type {any} */
  const worker = { sent: [], terminated: false };
  worker.postMessage = (/** @type {any} */ message) => worker.sent.push(message);
  worker.terminate = () => (worker.terminated = true);
  /** @type {Error[]} */
  const failures = [];
  const link = new WorkerLink(worker, (error) => failures.push(error), patience);
  return { worker, failures, link };
}

test('answers find their requests, in whatever order they come', async () => {
  const { worker, link } = linked();
  const first = link.ask('a', { value: 1 });
  const second = link.ask('b');
  assert.deepEqual(worker.sent, [{ id: 0, type: 'a', value: 1 }, { id: 1, type: 'b' }]);
  worker.onmessage({ data: { id: 1, error: { code: 'some_code', message: 'words', retryable: true } } });
  worker.onmessage({ data: { id: 0, result: 'one' } });
  worker.onmessage({ data: { id: 7, result: 'nobody asked' } });
  assert.equal(await first, 'one');
  await assert.rejects(second, { code: 'some_code', message: 'words', retryable: true });
});

test('progress is told and is no answer', async () => {
  const { worker, link } = linked();
  /** @type {number[]} */
  const seen = [];
  const answer = link.ask('open', {}, (fraction) => seen.push(fraction));
  worker.onmessage({ data: { id: 0, progress: 0.5 } });
  worker.onmessage({ data: { id: 0, result: 2 } });
  assert.deepEqual([await answer, seen], [2, [0.5]]);
});

test('requests that wait are bounded', async () => {
  const { worker, link } = linked();
  const asked = Array.from({ length: 64 }, () => link.ask('a'));
  await assert.rejects(link.ask('a'), { code: 'ends_busy' });
  assert.equal(worker.sent.length, 64);
  link.close(endsFailed('test'));
  for (const result of await Promise.allSettled(asked)) assert.equal(result.status, 'rejected');
});

test('a worker is silent for all of its patience before it counts as dead', (context) => {
  context.mock.timers.enable({ apis: ['setTimeout'] });
  const { worker, link, failures } = linked(60);
  link.ask('a').catch(() => {});
  link.ask('b').catch(() => {});
  context.mock.timers.tick(59_000);
  worker.onmessage({ data: { id: 0, result: null } });
  for (let i = 0; i < 11; i++) context.mock.timers.tick(5000);
  assert.deepEqual([failures.length, worker.terminated], [0, false]);
  context.mock.timers.tick(5000);
  assert.deepEqual([failures.length, worker.terminated], [1, true]);
});

test('a worker that fails says so once, and terminates', async () => {
  const { worker, link, failures } = linked();
  const waiting = link.ask('a');
  worker.onmessageerror();
  worker.onerror({ preventDefault: () => {} });
  await assert.rejects(waiting, { code: 'ends_failed' });
  assert.deepEqual([failures.length, worker.terminated], [1, true]);
});
