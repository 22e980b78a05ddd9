import { Deadline } from './deadline.js';
import { GpuRefused } from './errors.js';

/** @typedef {import('./plane_on_gpu.js').PlaneOnGpu} PlaneOnGpu */
/** @typedef {import('./deadline.js').Timers} Timers */
/**
 * The plane in WASM memory, whose estimates the GPU's have to equal.
 * @typedef {{estimate: (hidden: Float32Array) => unknown, estimates: Float32Array}} Reference
 * @typedef {{now: () => number, timers?: Timers}} Clock milliseconds
 */

/** Seconds that timing may take. */
const BUDGET = 0.3;
const RUNS = 7;
/** Below this many runs in that time nothing is known. */
const LEAST_RUNS = 3;
const REFERENCE_RUNS = 3;
/** How much faster the GPU has to be: between tokens it rests, and wakes up slower than it runs. */
const MARGIN = 1.3;
/** Rounding differs by less than this part of the largest estimate; a wrong block by more. */
const TOLERANCE = 2 ** -12;

/**
 * Compares the estimates of every row, once.
 * @param {PlaneOnGpu} onGpu @param {Reference} reference its estimates lie in the same memory
 * @param {Float32Array} hidden @param {Deadline} deadline
 * @throws {GpuRefused} they differ @throws {GpuLost}
 */
export async function checkEstimates(onGpu, reference, hidden, deadline) {
  reference.estimate(hidden);
  const expected = reference.estimates.slice();
  await onGpu.estimate(hidden, deadline);
  const largest = expected.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
  const same = expected.every((value, i) => Math.abs(value - onGpu.estimates[i]) <= largest * TOLERANCE);
  if (!same) throw new GpuRefused('its products are wrong');
}

/**
 * Whether the GPU's estimates, the way to it and back included, are clearly earlier than the reference's: the
 * median of its runs against the other's shortest. Takes at most 0.3 seconds.
 * @param {PlaneOnGpu} onGpu @param {Reference} reference @param {Float32Array} hidden
 * @param {Clock & {workers: number}} options `workers`: they all share the GPU, so it does the work of all
 * @throws {GpuRefused} it is not, or does not answer in that time @throws {GpuLost} it fails
 */
export async function checkSpeed(onGpu, reference, hidden, { workers, now, timers }) {
  const end = now() + BUDGET * 1000;
  const deadline = new Deadline(BUDGET, timers);
  try {
    const toBeat = shortest(() => reference.estimate(hidden), now, end) / MARGIN;
    /** @type {number[]} */
    const times = [];
    while (times.length < RUNS && now() < end) {
      const start = now();
      await onGpu.estimate(hidden, deadline, workers);
      times.push(now() - start);
    }
    if (times.length < LEAST_RUNS || median(times) >= toBeat) throw new GpuRefused('it is not faster');
  } catch (error) {
    throw deadline.passed ? new GpuRefused('it is not faster') : error;
  } finally {
    deadline.end();
  }
}

/** @param {() => void} run @param {() => number} now @param {number} end */
function shortest(run, now, end) {
  let least = Infinity;
  for (let i = 0; i < REFERENCE_RUNS && (i === 0 || now() < end); i++) {
    const start = now();
    run();
    least = Math.min(least, now() - start);
  }
  return least;
}

/** @param {number[]} times */
function median(times) {
  return times.sort((a, b) => a - b)[times.length >> 1];
}
