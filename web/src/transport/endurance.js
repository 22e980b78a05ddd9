// The time at which an exchange is given up: so long after its first loss, sleep not counted.

// Seconds: while the device is awake nothing is that much later than it was set for.
const SLEEP = 10;

/** The patience of one exchange at a time. */
export class Endurance {
  /**
   * @param {number} total seconds from the first loss to giving up
   * @param {() => number} clock seconds, running on while the device sleeps
   */
  constructor(total, clock) {
    this._total = total;
    this._clock = clock;
    /** @type {number | null} */
    this._deadline = null;
  }

  /** A new exchange begins, or the device was asleep. */
  renew() {
    this._deadline = null;
  }

  /**
   * Whether something lost may be tried again after `delay` seconds.
   * @param {number} delay
   */
  allows(delay) {
    const now = this._clock();
    this._deadline ??= now + this._total;
    return now + delay <= this._deadline;
  }

  /**
   * Whether the device slept since `began`, by how much longer that is than the `longest` that it can
   * have taken; patience begins anew then.
   * @param {number} began by the clock
   * @param {number} longest seconds
   */
  slept(began, longest) {
    const slept = this._clock() - began > longest + SLEEP;
    if (slept) this.renew();
    return slept;
  }
}
