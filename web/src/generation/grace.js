/**
 * Runs `run` after some milliseconds, unless the function returned is called before.
 * @typedef {(run: () => void, milliseconds: number) => () => void} Later
 */

/** @type {Later} */
const later = (run, milliseconds) => {
  const timer = setTimeout(run, milliseconds);
  return () => clearTimeout(timer);
};

/**
 * A signal that follows another one with a delay. A step under way usually ends in a moment; broken off, its
 * bytes are sent again before the session goes on.
 */
export class Grace {
  /**
   * @param {AbortSignal | undefined} signal
   * @param {number} milliseconds
   * @param {{wait?: Later, promising?: () => boolean}} [options] `promising`: whether waiting makes sense, asked
   *   when the signal is aborted
   */
  constructor(signal, milliseconds, { wait = later, promising = () => true } = {}) {
    this._controller = new AbortController();
    this._asked = signal;
    this._cancel = () => {};
    this._begin = () => {
      const end = () => this._controller.abort(signal?.reason);
      if (promising()) this._cancel = wait(end, milliseconds);
      else end();
    };
    if (signal?.aborted) this._begin();
    else signal?.addEventListener('abort', this._begin, { once: true });
  }

  /** @returns {AbortSignal} aborted when the delay is over */
  get signal() {
    return this._controller.signal;
  }

  /** Whether the signal followed is aborted. */
  get asked() {
    return this._asked?.aborted ?? false;
  }

  /** Whether the delay is over too. */
  get over() {
    return this._controller.signal.aborted;
  }

  /**
   * What `pending` brings, or null where it fails once the delay is over: it was broken off.
   * @template T
   * @param {Promise<T>} pending
   * @returns {Promise<T | null>}
   */
  async unlessOver(pending) {
    try {
      return await pending;
    } catch (error) {
      if (this.over) return null;
      throw error;
    }
  }

  /** Stops following. */
  close() {
    this._cancel();
    this._asked?.removeEventListener('abort', this._begin);
  }
}
