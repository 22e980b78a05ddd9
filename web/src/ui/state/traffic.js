import { signal } from '@preact/signals';

/** @typedef {import('../../engine/messages.js').Stats} Stats */

const EVERY_MS = 1000;

const TIMERS = {
  set: (/** @type {() => void} */ run, /** @type {number} */ ms) => setInterval(run, ms),
  clear: (/** @type {any} */ timer) => clearInterval(timer),
};

/** What has travelled, asked for while somebody looks at it or it changes. */
export class Traffic {
  /**
   * @param {() => Promise<Stats>} read
   * @param {{set: (run: () => void, ms: number) => unknown, clear: (timer: any) => void}} [timers]
   */
  constructor(read, timers = TIMERS) {
    this._read = read;
    this._timers = timers;
    /** @type {unknown} */
    this._timer = null;
    /** @type {import('@preact/signals').Signal<Stats | null>} */
    this.stats = signal(null);
  }

  /** @param {boolean} wanted */
  watch(wanted) {
    if (wanted === (this._timer !== null)) return;
    if (wanted) {
      this._timer = this._timers.set(() => void this.look(), EVERY_MS);
    } else {
      this._timers.clear(this._timer);
      this._timer = null;
    }
    void this.look();
  }

  async look() {
    try {
      this.stats.value = await this._read();
    } catch {
      // Before the first connection there is nothing to count.
    }
  }
}
