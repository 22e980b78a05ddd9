/** @import { Backend } from './types.js' */
import { claim } from './claims.js';
import { ModelInUse, storageError } from './errors.js';
import { isLocked } from './opfs_files.js';

/**
 * Changes a model while nobody else uses it. Throws ModelInUse; failures of the browser's storage become
 * ours.
 * @param {Backend} backend @param {string} digest @param {() => Promise<void>} work
 */
export async function alone(backend, digest, work) {
  // Memory belongs to this worker alone.
  const release = backend.kind === 'memory' ? () => {} : await claim(digest, { exclusive: true });
  try {
    await work();
  } catch (error) {
    throw isLocked(error) ? new ModelInUse(digest) : storageError(error);
  } finally {
    release();
  }
}

/**
 * Failures of the browser's storage become ours.
 * @template T
 * @param {Promise<T>} work
 * @returns {Promise<T>}
 */
export async function told(work) {
  try {
    return await work;
  } catch (error) {
    throw storageError(error);
  }
}
