import { GpuLost } from './errors.js';

/** A device that slept fires one timer late, not several: time runs only while the device is awake. */
const SLICES = 8;

/**
 * @typedef {object} Timers
 * @property {(work: () => void, milliseconds: number) => any} setTimeout
 * @property {(timer: any) => void} clearTimeout
 */

/** @type {Timers} */
const OWN = {
  setTimeout: (work, milliseconds) => setTimeout(work, milliseconds),
  clearTimeout: (timer) => clearTimeout(timer),
};

/** A time after which everything that is still waited for counts as lost: a GPU may never answer. */
export class Deadline {
  /** @param {number} seconds from now @param {Timers} [timers] */
  constructor(seconds, timers = OWN) {
    this._timers = timers;
    this.passed = false;
    /** @type {(error: Error) => void} */
    this._expire = () => {};
    /** @type {Promise<never>} */
    this._expired = new Promise((_, reject) => (this._expire = reject));
    this._expired.catch(() => {});
    this._watch((seconds * 1000) / SLICES, SLICES);
  }

  /**
   * What `promise` resolves to.
   * @template T @param {Promise<T>} promise @returns {Promise<T>}
   * @throws {GpuLost} once the time is up
   */
  of(promise) {
    return Promise.race([promise, this._expired]);
  }

  /** Nothing is waited for any more. */
  end() {
    this._timers.clearTimeout(this._timer);
  }

  /** @param {number} slice milliseconds @param {number} left slices */
  _watch(slice, left) {
    this._timer = this._timers.setTimeout(() => {
      if (left > 1) return this._watch(slice, left - 1);
      this.passed = true;
      this._expire(new GpuLost('it does not answer'));
    }, slice);
  }
}
