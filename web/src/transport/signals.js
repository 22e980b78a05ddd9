// Several reasons to stop as one (AbortSignal.any is younger than the browsers that are served), and waiting for one.
import { Cancelled } from './errors.js';

/** Never aborted. */
export const NEVER = new AbortController().signal;

/**
 * A signal that is aborted with the first of `signals`, or by `abort`; `release` lets go of them.
 * @param {AbortSignal[]} signals
 * @returns {{signal: AbortSignal, abort: () => void, release: () => void}}
 */
export function linked(signals) {
  const controller = new AbortController();
  const abort = () => controller.abort();
  for (const signal of signals) {
    if (signal.aborted) abort();
    signal.addEventListener('abort', abort);
  }
  const release = () => signals.forEach((signal) => signal.removeEventListener('abort', abort));
  return { signal: controller.signal, abort, release };
}

/**
 * Never resolves: to be raced with what `signal` ends the wait for.
 * @param {AbortSignal} signal
 * @returns {Promise<never>}
 * @throws {Cancelled} once it is aborted
 */
export function aborted(signal) {
  return new Promise((_, reject) => {
    if (signal.aborted) reject(new Cancelled());
    signal.addEventListener('abort', () => reject(new Cancelled()), { once: true });
  });
}
