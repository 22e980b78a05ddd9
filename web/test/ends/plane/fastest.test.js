import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fastestEstimate } from '../../../src/ends/plane/fastest.js';

const layout = /** @type {any} */ ({ rows: 8, hidden: 4, words16: 16, bytes8: 8 });

/**
 * Kernels of which each takes its time and gives its value.
 * @param {Record<string, number[]>} costs
 */
function kernelsOf(costs) {
  let now = 0;
  const estimates = new Float32Array(8);
  const kernels = Object.fromEntries(
    Object.entries(costs).map(([name, [milliseconds, value]]) => [
      name,
      () => {
        now += milliseconds;
        estimates.fill(value);
      },
    ]),
  );
  const plane = /** @type {any} */ ({ estimates, activate: () => {} });
  const choose = (/** @type {any} */ choice) =>
    fastestEstimate(plane, { layout, kernels: /** @type {any} */ (kernels) }, choice, () => now);
  return { kernels, choose };
}

test('the fastest kernel is taken, with the activation that it reads', () => {
  const costs = { estimate: [3, 1], estimateByPairs: [2, 1], estimateByFours: [1, 1] };
  const { kernels, choose } = kernelsOf(costs);
  assert.deepEqual(choose('auto'), { estimate: kernels.estimateByFours, x: 8, name: 'relaxed' });
});

test('one that gives other estimates is not taken, however fast', () => {
  const costs = { estimate: [3, 1], estimateByPairs: [4, 1], estimateByFours: [1, 1.5] };
  const { kernels, choose } = kernelsOf(costs);
  assert.deepEqual(choose('auto'), { estimate: kernels.estimate, x: 16, name: 'simd' });
});

test('who asks for relaxed SIMD gets it though it is slower, and plain SIMD only where it is wrong', () => {
  const slow = kernelsOf({ estimate: [1, 1], estimateByPairs: [5, 1], estimateByFours: [4, 1] });
  assert.equal(slow.choose('relaxed').estimate, slow.kernels.estimateByFours);
  const wrong = kernelsOf({ estimate: [1, 1], estimateByPairs: [5, 2], estimateByFours: [4, NaN] });
  assert.equal(wrong.choose('relaxed').name, 'simd');
});

test('kernels without relaxed SIMD have one', () => {
  assert.equal(kernelsOf({ estimate: [1, 1] }).choose('auto').name, 'simd');
});
