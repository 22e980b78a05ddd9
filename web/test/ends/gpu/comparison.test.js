import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkEstimates, checkSpeed } from '../../../src/ends/gpu/comparison.js';
import { Deadline } from '../../../src/ends/gpu/deadline.js';
import { GpuLost } from '../../../src/ends/gpu/errors.js';
import { FakeTimers } from './fake_gpu.js';

const hidden = Float32Array.of(1, 2);

/** @param {number[]} costs of the GPU's runs, milliseconds; the last one counts for all that follow */
function planes(costs, own = 10) {
  const timers = new FakeTimers();
  const runs = { gpu: 0, own: 0 };
  const reference = {
    estimates: new Float32Array(4),
    estimate() {
      runs.own++;
      timers.pass(own);
    },
  };
  /** @param {Float32Array} _ @param {Deadline} deadline */
  const estimate = async (_, deadline) => {
    const cost = costs[Math.min(runs.gpu++, costs.length - 1)];
    timers.pass(cost);
    if (cost === Infinity || deadline.passed) await deadline.of(new Promise(() => {}));
  };
  const onGpu = /** @type {any} */ ({ estimate });
  const clock = { workers: 2, now: () => timers.now, timers };
  return { runs, timers, check: () => checkSpeed(onGpu, reference, hidden, clock) };
}

test('a GPU that is clearly faster is taken, after a slow first run too', async () => {
  const { check, runs } = planes([60, 5]);
  await check();
  assert.deepEqual(runs, { gpu: 7, own: 3 });
});

test('one that is faster by less than the margin is not', async () => {
  await assert.rejects(planes([8]).check(), { code: 'gpu_refused', message: /not faster/ });
  await planes([7.6]).check();
});

test('one that is fast every third time is not', async () => {
  await assert.rejects(planes([1, 20, 20, 1, 20, 20, 1]).check(), { code: 'gpu_refused' });
});

test('the comparison ends after 0.3 seconds, and few runs in that time tell nothing', async () => {
  const slow = planes([120], 20);
  await assert.rejects(slow.check(), { code: 'gpu_refused' });
  assert.deepEqual(slow.runs, { gpu: 2, own: 3 });
  const slower = planes([5], 290);
  await assert.rejects(slower.check(), { code: 'gpu_refused' });
  assert.deepEqual(slower.runs, { gpu: 0, own: 2 });
});

test('one that does not answer in that time is slow, and one that fails is lost', async () => {
  const { check, timers } = planes([301]);
  await assert.rejects(check(), { code: 'gpu_refused' });
  assert.equal(timers.waiting.size, 0);
  const estimate = () => Promise.reject(new GpuLost('it failed'));
  const reference = { estimates: new Float32Array(4), estimate: () => {} };
  const own = new FakeTimers();
  const failing = checkSpeed(/** @type {any} */ ({ estimate }), reference, hidden, {
    workers: 1,
    now: () => 0,
    timers: own,
  });
  await assert.rejects(failing, { code: 'gpu_lost' });
  assert.equal(own.waiting.size, 0);
});

/** @param {number[]} values @param {number[]} found */
function compared(values, found) {
  const estimates = new Float32Array(values.length);
  const onGpu = { estimates, estimate: async () => estimates.set(found) };
  const reference = { estimates, estimate: () => estimates.set(values) };
  const deadline = new Deadline(1, new FakeTimers());
  return checkEstimates(/** @type {any} */ (onGpu), reference, hidden, deadline);
}

test('estimates may differ by rounding and by nothing else', async () => {
  await compared([100, -3, 0], [100.001, -3.001, 0.001]);
  await compared([0, 0], [0, 0]);
  await assert.rejects(compared([100, -3], [100, -3.5]), { code: 'gpu_refused', message: /wrong/ });
  await assert.rejects(compared([100, -3], [0, 0]), { code: 'gpu_refused' });
  await assert.rejects(compared([100, -3], [100, NaN]), { code: 'gpu_refused' });
  await assert.rejects(compared([Infinity, 1], [Infinity, 1]), { code: 'gpu_refused' });
});
