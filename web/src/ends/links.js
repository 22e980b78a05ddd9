import { EndsError, endsFailed } from './errors.js';

const MOST_WAITING = 64;
/** Seconds without a sign of life, progress included, after which a worker counts as dead. */
const PATIENCE = 60;
/** A device that slept fires one timer late, not a dozen: patience runs only while the device is awake. */
const SLICES = 12;

/**
 * @typedef {object} Pending
 * @property {(result: any) => void} resolve
 * @property {(error: Error) => void} reject
 * @property {((fraction: number) => void) | undefined} onProgress
 */

/** Requests to one worker of the ends and its answers. A worker that dies or hangs fails them all. */
export class WorkerLink {
  /**
   * @param {Worker} worker
   * @param {(error: Error) => void} onFailure called once
   * @param {number} [patience] seconds
   */
  constructor(worker, onFailure, patience = PATIENCE) {
    this._worker = worker;
    this._onFailure = onFailure;
    this._patience = patience;
    /** @type {Map<number, Pending>} */
    this._pending = new Map();
    this._nextId = 0;
    /** @type {Error | null} */
    this._failure = null;
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    this._timer = undefined;
    /** The worker's estimates come from another kernel now. @type {(name: string) => void} */
    this.onKernel = () => {};
    worker.onmessage = ({ data }) => this._receive(data);
    worker.onmessageerror = () => this.fail(endsFailed('a message was lost'));
    worker.onerror = (event) => {
      event.preventDefault?.();
      this.fail(endsFailed('a worker died'));
    };
  }

  /**
   * @param {string} type @param {object} [fields] @param {(fraction: number) => void} [onProgress]
   * @returns {Promise<any>} the answer's result
   * @throws {EndsError} what the worker threw, or ends_failed
   */
  ask(type, fields = {}, onProgress = undefined) {
    if (this._failure) return Promise.reject(this._failure);
    if (this._pending.size >= MOST_WAITING) {
      return Promise.reject(new EndsError('ends_busy', 'too many requests wait for the LM head'));
    }
    const id = this._nextId++;
    return new Promise((resolve, reject) => {
      this._pending.set(id, { resolve, reject, onProgress });
      this._watch();
      this._worker.postMessage({ ...fields, id, type });
    });
  }

  /** Ends the worker; what waits is rejected with `error`. @param {Error} error */
  close(error) {
    if (this._failure) return;
    this._failure = error;
    clearTimeout(this._timer);
    this._worker.terminate();
    const waiting = [...this._pending.values()];
    this._pending.clear();
    for (const { reject } of waiting) reject(error);
  }

  /** @param {Error} error */
  fail(error) {
    if (this._failure) return;
    this.close(error);
    this._onFailure(error);
  }

  /** @param {{id: number, result?: any, error?: {code: string, message: string, retryable: boolean},
   *   progress?: number, kernel?: string}} message */
  _receive(message) {
    if (message.kernel !== undefined) {
      this.onKernel(message.kernel);
      return;
    }
    const pending = this._pending.get(message.id);
    if (!pending) return;
    if (message.progress !== undefined) pending.onProgress?.(message.progress);
    else this._pending.delete(message.id);
    this._watch();
    if (message.error) {
      const { code, message: text, retryable } = message.error;
      pending.reject(new EndsError(code, text, { retryable }));
    } else if (message.progress === undefined) {
      pending.resolve(message.result);
    }
  }

  /** Waits anew for the next sign of life. @param {number} [slices] how many more */
  _watch(slices = SLICES) {
    clearTimeout(this._timer);
    if (!this._pending.size) return;
    if (!slices) {
      this.fail(endsFailed('a worker hangs'));
      return;
    }
    this._timer = setTimeout(() => this._watch(slices - 1), (this._patience * 1000) / SLICES);
  }
}
