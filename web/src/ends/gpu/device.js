import { GpuLost, GpuRefused } from './errors.js';

/** @typedef {import('./deadline.js').Deadline} Deadline */

/** Names under which processors pose as GPUs. */
const SOFTWARE = /swiftshader|llvmpipe|lavapipe|softpipe|software|basic render|\bwarp\b/i;
/** @type {GPUErrorFilter[]} */
const SCOPES = ['validation', 'out-of-memory', 'internal'];

/**
 * A device of the browser's GPU.
 * @param {GPU} gpu
 * @param {{software: boolean, deadline: Deadline}} options `software`: one that the processor plays will do
 * @returns {Promise<GpuDevice>}
 * @throws {GpuRefused} there is none @throws {GpuLost} the browser does not answer
 */
export async function requestGpuDevice(gpu, { software, deadline }) {
  const adapter = await deadline.of(gpu.requestAdapter());
  if (!adapter) throw new GpuRefused('the browser offers no adapter');
  if (!software && isSoftware(adapter)) throw new GpuRefused('its adapter is software');
  // Limits stay the standard's defaults, which every adapter has; larger planes are cut.
  const asked = adapter.requestDevice();
  const device = await deadline.of(asked).catch((error) => {
    void asked.then((late) => late.destroy(), () => {});
    throw error instanceof GpuLost ? error : new GpuRefused('the browser gives no device');
  });
  return new GpuDevice(device);
}

/**
 * Whether the processor plays the GPU, as far as the browser says.
 * @param {GPUAdapter} adapter
 */
export function isSoftware(adapter) {
  const info = /** @type {Partial<GPUAdapterInfo>} */ (adapter.info ?? {});
  // Older browsers have it on the adapter.
  const older = /** @type {{isFallbackAdapter?: boolean}} */ (/** @type {unknown} */ (adapter));
  if (info.isFallbackAdapter ?? older.isFallbackAdapter) return true;
  return SOFTWARE.test(`${info.vendor} ${info.architecture} ${info.device} ${info.description}`);
}

/** A device whose work either succeeds or ends it: after the first error nothing more is asked of it. */
export class GpuDevice {
  /** @param {GPUDevice} device */
  constructor(device) {
    this.raw = device;
    /** @type {GpuLost | null} */
    this._loss = null;
    /** Ends what is waited for. @type {(loss: GpuLost) => void} */
    this._interrupt = () => {};
    void device.lost.then(() => this._lose(new GpuLost('the browser took it away')));
  }

  get limits() {
    return this.raw.limits;
  }

  /**
   * The result of `work`, once the GPU has found no error in it.
   * @template T
   * @param {Deadline} deadline
   * @param {(device: GPUDevice) => T | Promise<T>} work asks everything of the device before it first waits
   * @returns {Promise<T>}
   * @throws {GpuLost} an error, a loss, or the deadline; the device is destroyed
   */
  async guarded(deadline, work) {
    if (this._loss) throw this._loss;
    try {
      for (const scope of SCOPES) this.raw.pushErrorScope(scope);
      const done = Promise.resolve(work(this.raw));
      const errors = Promise.all(SCOPES.map(() => this.raw.popErrorScope()));
      const [result, found] = await deadline.of(this._unlessLost(Promise.all([done, errors])));
      if (found.some((error) => error)) throw new GpuLost('it refused the work');
      return result;
    } catch (error) {
      throw this._lose(error instanceof GpuLost ? error : new GpuLost('it failed', error));
    }
  }

  /** Frees what it holds. */
  destroy() {
    this._lose(new GpuLost('it is closed'));
  }

  /** @template T @param {Promise<T>} work @returns {Promise<T>} */
  _unlessLost(work) {
    return new Promise((resolve, reject) => {
      this._interrupt = reject;
      work.then(resolve, reject);
    });
  }

  /** @param {GpuLost} loss @returns {GpuLost} the first one */
  _lose(loss) {
    if (!this._loss) {
      this._loss = loss;
      this._interrupt(loss);
      this.raw.destroy();
    }
    return this._loss;
  }
}
