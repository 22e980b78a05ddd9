/** Seconds before the n-th try (1, 2, ...) to reach a server that did not answer: 2, 4, ... 60. */
const LONGEST = 60;

const TIMERS = {
  set: (/** @type {() => void} */ run, /** @type {number} */ ms) => setTimeout(run, ms),
  clear: (/** @type {any} */ timer) => clearTimeout(timer),
};

/**
 * Tries again on its own, later and later, and at once when the browser says that something changed.
 */
export class Retry {
  /**
   * @param {() => void} again
   * @param {{set: (run: () => void, ms: number) => unknown, clear: (timer: any) => void}} [timers]
   */
  constructor(again, timers = TIMERS) {
    this._again = again;
    this._timers = timers;
    this._tries = 0;
    /** @type {unknown} */
    this._timer = null;
  }

  /** The server did not answer. @returns {number} seconds until the next try */
  wait() {
    this.stop();
    this._tries += 1;
    const seconds = Math.min(LONGEST, 2 ** this._tries);
    this._timer = this._timers.set(() => this.now(), seconds * 1000);
    return seconds;
  }

  /** Tries at once, if a try is awaited. */
  now() {
    if (this._timer === null) return;
    this.stop();
    this._again();
  }

  /** No further try; the next wait is as long as before. */
  stop() {
    if (this._timer !== null) this._timers.clear(this._timer);
    this._timer = null;
  }

  /** The server answered. */
  succeeded() {
    this.stop();
    this._tries = 0;
  }
}
