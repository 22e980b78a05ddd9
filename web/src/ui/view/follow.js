const NEAR = 32;

/**
 * Whether a growing list is kept at its end: until the reader scrolls up, and again from the end on.
 */
export class Follow {
  constructor() {
    this.following = true;
    this._top = 0;
  }

  /**
   * The list was scrolled, by the reader or by itself.
   * @param {{scrollTop: number, scrollHeight: number, clientHeight: number}} list
   * @returns {boolean} whether it follows
   */
  scrolled({ scrollTop, scrollHeight, clientHeight }) {
    const rest = scrollHeight - clientHeight - scrollTop;
    if (rest <= NEAR) this.following = true;
    // Only a way up is the reader's: what grows below makes the rest larger without moving the top.
    else if (scrollTop < this._top - 1) this.following = false;
    this._top = scrollTop;
    return this.following;
  }

  /** The reader asked for the end. */
  toEnd() {
    this.following = true;
  }
}
