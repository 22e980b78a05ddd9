const EVERY_MS = 100;

/** @param {() => void} run @param {number} ms */
function afterwards(run, ms) {
  const timer = setTimeout(run, ms);
  return () => clearTimeout(timer);
}

/** Tells of something that changes often: at once, and then no more often than somebody looks. */
export class Told {
  /**
   * @param {() => void} tell
   * @param {{now?: () => number, later?: (run: () => void, ms: number) => () => void}} [clock] milliseconds;
   *   what `later` returns calls it off
   */
  constructor(tell, { now = () => performance.now(), later = afterwards } = {}) {
    this._tell = tell;
    this._now = now;
    this._later = later;
    this._last = -Infinity;
    /** @type {(() => void) | null} */
    this._callOff = null;
  }

  /** Something has changed: it is told by itself, and what changes meanwhile with it. */
  soon() {
    const wait = this._last + EVERY_MS - this._now();
    if (wait <= 0) this.now();
    else this._callOff ??= this._later(() => this.now(), wait);
  }

  /** Tells at once. */
  now() {
    this.end();
    this._last = this._now();
    this._tell();
  }

  /** Nothing is told by itself any more. */
  end() {
    this._callOff?.();
    this._callOff = null;
  }
}
