import { AppError } from '../common/errors.js';

/** The server's manifest is not one that can be believed. */
export class ManifestInvalid extends AppError {
  /** @param {string} reason */
  constructor(reason) {
    super('manifest_invalid', `the server's manifest cannot be used: ${reason}; tell the server's owner`);
  }
}

/** A chunk whose SHA-256 stayed wrong; the chunks before it are kept. */
export class DownloadDamaged extends AppError {
  /** @param {string} file @param {number} chunk */
  constructor(file, chunk) {
    super(
      'download_damaged',
      `chunk ${chunk} of ${file} arrived damaged several times; nothing of it was kept, ` +
        "download again and tell the server's owner if it stays",
    );
  }
}

/** The weights could not be fetched; what arrived is kept. */
export class DownloadFailed extends AppError {
  /** @param {string} file @param {string} reason @param {unknown} [cause] */
  constructor(file, reason, cause) {
    super('download_failed', `cannot fetch ${file}: ${reason}; download again to continue where it stopped`, {
      cause,
    });
  }
}

/** A request that may be tried again. `retryAfter`: seconds that the server asks for, or null. */
export class ConnectionLost extends AppError {
  /** @param {string} reason @param {number|null} [retryAfter] @param {unknown} [cause] */
  constructor(reason, retryAfter = null, cause = undefined) {
    super('connection_lost', `the connection was lost: ${reason}`, { retryable: true, cause });
    this.retryAfter = retryAfter;
  }
}

/** The server answered with an error; the code is the server's. */
export class ServerRefused extends AppError {
  /**
   * @param {string} code
   * @param {string} message
   * @param {{retryable?: boolean, retryAfter?: number|null}} [options]
   */
  constructor(code, message, { retryable = false, retryAfter = null } = {}) {
    super(code, message, { retryable });
    this.retryAfter = retryAfter;
  }
}

/** The browser gives no room for more; what was verified is kept. */
export class StorageFull extends AppError {
  /** @param {string} reason @param {unknown} [cause] */
  constructor(reason, cause) {
    super(
      'storage_full',
      `the browser has no room for the weights: ${reason}; delete another model or free space on ` +
        'the device, then download again to continue where it stopped',
      { cause },
    );
  }
}

/** The browser's storage cannot be read or written. */
export class StoreFailed extends AppError {
  /** @param {string} reason @param {unknown} [cause] */
  constructor(reason, cause) {
    super('store_failed', `the browser's storage failed: ${reason}; reload the page`, { cause });
  }
}

/** Another tab downloads, deletes or uses the model. */
export class ModelInUse extends AppError {
  /** @param {string} [name] the model's, as the manifest has it */
  constructor(name) {
    const model = name === undefined ? 'the model' : `“${name}”`;
    super(
      'model_in_use',
      `${model} is in use by another tab; close that tab or wait for it, then try again`,
      { retryable: true },
    );
  }
}

/** The caller's signal ended a download; what arrived is kept. */
export class Paused extends AppError {
  constructor() {
    super('paused', 'the download is paused; it continues where it stopped');
  }
}

/**
 * A failure of the browser's storage as one of ours.
 * @param {unknown} error
 * @returns {AppError}
 */
export function storageError(error) {
  if (error instanceof AppError) return error;
  const name = error instanceof Error || error instanceof DOMException ? error.name : 'unknown';
  if (name === 'QuotaExceededError') return new StorageFull('its quota is reached', error);
  // Allocating an array fails so where the memory does not hold it.
  if (error instanceof RangeError) return new StorageFull('the memory is not enough', error);
  return new StoreFailed(name, error);
}
