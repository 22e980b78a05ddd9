/** Lets text through up to the first stop string; a tail that may begin one is held back. */
export class StopFilter {
  /** @param {Iterable<string>} stops */
  constructor(stops) {
    this._stops = [...stops].filter((stop) => stop !== '');
    this._longest = Math.max(1, ...this._stops.map((stop) => stop.length));
    this._held = '';
    this.stopped = false;
  }

  /**
   * The part of the text so far that is safe to show. After a stop everything is dropped.
   * @param {string} text
   */
  push(text) {
    if (this.stopped) return '';
    this._held += text;
    const found = this._stops.map((stop) => this._held.indexOf(stop)).filter((at) => at >= 0);
    if (found.length) {
      this.stopped = true;
      return this._release(Math.min(...found));
    }
    return this._release(this._held.length - this._possibleStart());
  }

  /** What was held back, once no more text follows. */
  flush() {
    return this.stopped ? '' : this._release(this._held.length);
  }

  /** @param {number} length */
  _release(length) {
    const text = this._held.slice(0, length);
    this._held = this._held.slice(length);
    return text;
  }

  /** Length of the longest tail that is a proper prefix of a stop string. */
  _possibleStart() {
    for (let length = Math.min(this._longest - 1, this._held.length); length > 0; length--) {
      const tail = this._held.slice(-length);
      if (this._stops.some((stop) => stop.startsWith(tail))) return length;
    }
    return 0;
  }
}
