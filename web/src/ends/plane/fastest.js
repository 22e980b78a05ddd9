import { GROUP } from './layout.js';

/** @typedef {import('./layout.js').Layout} Layout */
/** @typedef {import('../kernels.js').Kernels} Kernels */
/** @typedef {import('../kernels.js').Estimate} Estimate */
/** @typedef {import('../kernels.js').KernelChoice} KernelChoice */
/** @typedef {import('./plane.js').Plane} Plane */

const PROBED_ROWS = 32768;
// Engines compile better code while the first rounds run.
const ROUNDS = 12;

/**
 * The kernel that is fastest here: which instructions a processor has cannot be asked. All give the same
 * bits; one of relaxed SIMD that does not is not taken. Some 50 ms.
 * @param {Plane} plane
 * @param {{layout: Layout, kernels: Kernels}} place
 * @param {KernelChoice} choice 'relaxed': the plain one only if no other is right
 * @param {() => number} [clock] milliseconds
 * @returns {{estimate: Estimate, x: number, name: 'relaxed' | 'simd'}}
 */
export function fastestEstimate(plane, { layout, kernels }, choice, clock = () => performance.now()) {
  const rows = Math.min(PROBED_ROWS, GROUP * Math.ceil(layout.rows / GROUP));
  plane.activate(Float32Array.from({ length: layout.hidden }, (_, i) => Math.cos(i)));
  /** @type {{estimate: Estimate, x: number, name: 'relaxed' | 'simd'}} */
  let best = { estimate: kernels.estimate, x: layout.words16, name: 'simd' };
  const time = timed(best, layout, rows, clock);
  let shortest = choice === 'relaxed' ? Infinity : time;
  const expected = plane.estimates.slice(0, rows);
  for (const estimate of [kernels.estimateByPairs, kernels.estimateByFours]) {
    if (!estimate) continue;
    const candidate = { estimate, x: layout.bytes8, name: /** @type {const} */ ('relaxed') };
    const own = timed(candidate, layout, rows, clock);
    const same = expected.every((value, i) => Object.is(value, plane.estimates[i]));
    if (!same || own >= shortest) continue;
    best = candidate;
    shortest = own;
  }
  return best;
}

/**
 * The shortest of a few runs.
 * @param {{estimate: Estimate, x: number}} candidate @param {Layout} layout @param {number} rows
 * @param {() => number} clock
 */
function timed({ estimate, x }, layout, rows, clock) {
  const { planeRows, blocks, factors, estimates } = layout;
  let shortest = Infinity;
  for (let round = 0; round < ROUNDS; round++) {
    const start = clock();
    estimate(planeRows, rows, blocks, x, factors, estimates);
    shortest = Math.min(shortest, clock() - start);
  }
  return shortest;
}
