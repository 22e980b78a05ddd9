const REFRESH_MS = 500;

/** The pace of tokens, for a figure that people can read while they come. */
export class Pace {
  /** @param {number} start milliseconds */
  constructor(start) {
    this._start = start;
    this._first = 0;
    this._shownAt = -Infinity;
    /** @type {number | null} */
    this._shown = null;
    this.tokens = 0;
    /** Seconds to the first token. @type {number | null} */
    this.ttft = null;
  }

  /** @param {number} now milliseconds */
  token(now) {
    this.tokens += 1;
    if (this.tokens === 1) {
      this._first = now;
      this.ttft = (now - this._start) / 1000;
    } else if (now - this._shownAt >= REFRESH_MS && now > this._first) {
      this._shownAt = now;
      this._shown = ((this.tokens - 1) * 1000) / (now - this._first);
    }
  }

  /** @returns {number | null} after the first token; it changes twice a second at most */
  perSecond() {
    return this._shown;
  }
}
