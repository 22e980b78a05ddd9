/** Waiting with an end: some browsers leave a database silent after a phone has slept. */
import { ChatStoreFailed } from './errors.js';

/** @typedef {{set: (run: () => void, ms: number) => unknown, clear: (timer: any) => void}} Timers */

/** @type {Timers} */
export const TIMERS = { set: (run, ms) => setTimeout(run, ms), clear: (timer) => clearTimeout(timer) };

/**
 * @template T
 * @param {number} ms @param {Promise<T>} promise @param {Timers} [timers]
 * @returns {Promise<T>} rejects with ChatStoreFailed where it has not settled in time
 */
export function within(ms, promise, timers = TIMERS) {
  return new Promise((resolve, reject) => {
    const timer = timers.set(() => reject(new ChatStoreFailed()), ms);
    promise.then(resolve, reject).finally(() => timers.clear(timer));
  });
}
