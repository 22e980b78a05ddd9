// Waiting, in one place so that tests wait for nothing.
import { Cancelled } from './errors.js';

/**
 * Calls `run` once after `seconds`; the returned function calls it off.
 * @typedef {(seconds: number, run: () => void) => () => void} After
 */

/** @type {After} */
export function after(seconds, run) {
  const timer = setTimeout(run, 1000 * seconds);
  return () => clearTimeout(timer);
}

/**
 * @param {number} seconds
 * @param {AbortSignal} signal
 * @returns {Promise<void>}
 * @throws {Cancelled} as soon as `signal` is aborted
 */
export function pause(seconds, signal) {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(new Cancelled());
    const ended = () => {
      signal.removeEventListener('abort', cancelled);
      resolve();
    };
    const cancelled = () => {
      callOff();
      reject(new Cancelled());
    };
    const callOff = after(seconds, ended);
    signal.addEventListener('abort', cancelled, { once: true });
  });
}
