const WINDOW_MS = 8000;
const MOST = 64;
const SHORTEST_MS = 400;

/** How fast a download goes, over its last seconds. */
export class Speed {
  constructor() {
    /** @type {{at: number, done: number}[]} */
    this._points = [];
  }

  /** @param {number} done bytes @param {number} at milliseconds */
  add(done, at) {
    const before = this._points.at(-2);
    // The newest stands for those that came shortly before it.
    if (before && at - before.at < WINDOW_MS / MOST) this._points.pop();
    this._points.push({ at, done });
    while (this._points.length > MOST || this._points[0].at < at - WINDOW_MS) this._points.shift();
  }

  /**
   * @param {number} [now] milliseconds; what has not come since counts as well
   * @returns {number | null} bytes per second; null: not known yet, or nothing comes
   */
  perSecond(now = -Infinity) {
    const last = this._points.at(-1);
    if (!last) return null;
    const end = Math.max(now, last.at);
    const first = this._points.find(({ at }) => at >= end - WINDOW_MS) ?? last;
    if (end - first.at < SHORTEST_MS || last.done <= first.done) return null;
    return ((last.done - first.done) / (end - first.at)) * 1000;
  }
}
