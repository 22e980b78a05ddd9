/** Waiting with an end: some browsers leave a database silent after a phone has slept. */
import { ChatStoreFailed } from './errors.js';

/**
 * @template T
 * @param {number} ms @param {Promise<T>} promise
 * @returns {Promise<T>} rejects with ChatStoreFailed where it has not settled in time
 */
export function within(ms, promise) {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new ChatStoreFailed()), ms);
    promise.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
