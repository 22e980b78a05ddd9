/**
 * Milliseconds from one run to the next: whoever reads sees no more than twenty texts a second, and each costs the
 * browser layout and paint, on the processor that makes the next tokens.
 */
const EVERY_MS = 50;

/**
 * @typedef {object} Clock
 * @property {(run: () => void) => unknown} [frame] runs with the next frame
 * @property {(run: () => void, milliseconds: number) => unknown} [wait]
 * @property {() => number} [now] in milliseconds
 */

/**
 * Runs a task with a frame, twenty times a second at most, and less often where the task is slow: it may take a
 * quarter of the time.
 */
export class Frames {
  /** @param {() => void} task @param {Clock} [clock] */
  constructor(task, clock = {}) {
    this._task = task;
    this._frame = clock.frame ?? ((run) => requestAnimationFrame(run));
    this._wait = clock.wait ?? ((run, milliseconds) => setTimeout(run, milliseconds));
    this._now = clock.now ?? (() => performance.now());
    this._asked = false;
    this._notBefore = -Infinity;
    this._ended = false;
  }

  /** The task has something to do. */
  ask() {
    if (this._asked || this._ended) return;
    this._asked = true;
    const left = this._notBefore - this._now();
    const run = () => void this._frame(() => this._turn());
    // A frame that is asked for costs something also where nothing is drawn.
    if (left > 0) this._wait(run, left);
    else run();
  }

  /** No further run, also not of one that was asked for. */
  end() {
    this._ended = true;
  }

  _turn() {
    if (this._ended) return;
    const start = this._now();
    this._asked = false;
    this._task();
    const end = this._now();
    this._notBefore = Math.max(start + EVERY_MS, end + 3 * (end - start));
  }
}
