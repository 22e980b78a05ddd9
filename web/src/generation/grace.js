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
   * @param {Later} [wait]
   */
  constructor(signal, milliseconds, wait = later) {
    this._controller = new AbortController();
    this._asked = signal;
    this._cancel = () => {};
    this._begin = () => {
      this._cancel = wait(() => this._controller.abort(signal?.reason), milliseconds);
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

  /** Stops following. */
  close() {
    this._cancel();
    this._asked?.removeEventListener('abort', this._begin);
  }
}
