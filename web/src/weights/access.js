/** @import { Backend } from './types.js' */
import { claim } from './claims.js';
import { ModelInUse, storageError } from './errors.js';
import { isLocked } from './opfs/files.js';

/**
 * Changes a model while nobody else uses it. Throws ModelInUse; failures of the browser's storage become
 * ours.
 * @param {Backend} backend @param {{digest: string, name?: string}} model @param {() => Promise<void>} work
 */
export async function alone(backend, { digest, name }, work) {
  // Memory belongs to this worker alone.
  const release = backend.kind === 'memory' ? () => {} : await claimed(digest, name);
  try {
    await work();
  } catch (error) {
    throw isLocked(error) ? new ModelInUse(name) : storageError(error);
  } finally {
    release();
  }
}

/** @param {string} digest @param {string} [name] for the error */
async function claimed(digest, name) {
  try {
    return await claim(digest, { exclusive: true });
  } catch (error) {
    throw error instanceof ModelInUse ? new ModelInUse(name) : error;
  }
}

/**
 * Failures of the browser's storage become ours.
 * @template T
 * @param {Promise<T>} work
 * @returns {Promise<T>}
 */
export async function withStorageErrors(work) {
  try {
    return await work;
  } catch (error) {
    throw storageError(error);
  }
}
