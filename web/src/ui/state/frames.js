/**
 * Runs a task at most once a frame, and less often where the task is slow: it may take a quarter of the time.
 */
export class Frames {
  /**
   * @param {() => void} task
   * @param {{frame?: (run: () => void) => unknown, now?: () => number}} [clock] now in milliseconds
   */
  constructor(task, { frame = (run) => requestAnimationFrame(run), now = () => performance.now() } = {}) {
    this._task = task;
    this._frame = frame;
    this._now = now;
    this._asked = false;
    this._notBefore = -Infinity;
    this._ended = false;
  }

  /** The task has something to do. */
  ask() {
    if (this._asked || this._ended) return;
    this._asked = true;
    this._frame(() => this._turn());
  }

  /** No further run, also not of one that was asked for. */
  end() {
    this._ended = true;
  }

  _turn() {
    if (this._ended) return;
    const start = this._now();
    if (start < this._notBefore) {
      this._frame(() => this._turn());
      return;
    }
    this._asked = false;
    this._task();
    this._notBefore = this._now() + 3 * (this._now() - start);
  }
}
