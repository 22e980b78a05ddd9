import { EndsError } from '../errors.js';

/** The GPU of this browser is not used, and why. */
export class GpuRefused extends EndsError {
  /** @param {string} reason */
  constructor(reason) {
    super('gpu_refused', `the LM head stays off the GPU: ${reason}`);
  }
}

/** A device that was in use no longer answers as it should; what it held is gone. */
export class GpuLost extends EndsError {
  /** @param {string} reason @param {unknown} [cause] */
  constructor(reason, cause) {
    super('gpu_lost', `the GPU is lost: ${reason}`, { retryable: true, cause });
  }
}
