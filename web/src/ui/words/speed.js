const WINDOW_MS = 8000;
const MOST = 64;

/** How fast a download goes, over its last seconds. */
export class Speed {
  constructor() {
    /** @type {{at: number, done: number}[]} */
    this._points = [];
  }

  /** @param {number} done bytes @param {number} at milliseconds */
  add(done, at) {
    const last = this._points.at(-1);
    if (last && at - last.at < WINDOW_MS / MOST) return;
    this._points.push({ at, done });
    while (this._points.length > MOST || this._points[0].at < at - WINDOW_MS) this._points.shift();
  }

  /** @returns {number | null} bytes per second; null: not known yet */
  perSecond() {
    const first = this._points[0];
    const last = this._points.at(-1);
    if (!first || !last || last.at - first.at < 400 || last.done <= first.done) return null;
    return ((last.done - first.done) / (last.at - first.at)) * 1000;
  }
}
