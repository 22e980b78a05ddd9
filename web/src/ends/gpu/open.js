import { checkEstimates, checkSpeed } from './comparison.js';
import { Deadline } from './deadline.js';
import { requestGpuDevice } from './device.js';
import { PlaneOnGpu } from './plane_on_gpu.js';
import { hasPackedDot } from './shader.js';

/** @typedef {import('./deadline.js').Timers} Timers */

/** Seconds for everything before the first product. */
const OPENING = 10;

/**
 * Moves the estimates of a plane to the GPU, where that answers, is right, and is faster.
 * @param {GPU} gpu
 * @param {import('../plane/plane.js').Plane} plane in WASM memory
 * @param {import('./packing.js').Place} place that memory
 * @param {object} options
 * @param {boolean} options.forced a slower one and one of software are taken too
 * @param {number} options.workers that share the GPU
 * @param {() => number} [options.now] milliseconds
 * @param {Timers} [options.timers]
 * @returns {Promise<PlaneOnGpu>} its estimates still go into `place`
 * @throws {GpuRefused} it is not for use @throws {GpuLost} it fails
 */
export async function openOnGpu(gpu, plane, place, options) {
  const { forced, workers, now = () => performance.now(), timers } = options;
  const deadline = new Deadline(OPENING, timers);
  const hidden = Float32Array.from({ length: place.layout.hidden }, (_, i) => Math.cos(i));
  try {
    const device = await requestGpuDevice(gpu, { software: forced, deadline });
    try {
      const onGpu = await PlaneOnGpu.copy(device, place, { packed: hasPackedDot(gpu), deadline, timers });
      await checkEstimates(onGpu, plane, hidden, deadline);
      if (!forced) await checkSpeed(onGpu, plane, hidden, { workers, now, timers });
      return onGpu;
    } catch (error) {
      device.destroy();
      throw error;
    }
  } finally {
    deadline.end();
  }
}
