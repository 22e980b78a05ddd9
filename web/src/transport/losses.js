// Connections that were lost and came about again, and what of that is told.

/**
 * What whoever shows the connection may tell: seconds until the next attempt, or that all is well
 * again. The first loss of a frame is not told unless it took long: a connection that idled until
 * somebody closed it is replaced without a word.
 * @typedef {{type: 'reconnecting', reason: string, attempt: number, delay: number}
 *   | {type: 'reconnected'}
 *   | {type: 'waiting', code: string, delay: number} | {type: 'waited'}} ChannelNotice
 *   waiting: the server lets this device wait, `delay` seconds until it is asked again (0: its answer is awaited)
 */

// Seconds that an attempt may take until its failure is told.
const UNTOLD = 2;

export class Losses {
  /** @param {(notice: ChannelNotice) => void} notify @param {() => number} clock seconds */
  constructor(notify, clock) {
    this._notify = notify;
    this._clock = clock;
    this._lost = false;
    this._told = false;
    /** Connections that came about again. */
    this.repaired = 0;
  }

  /** A frame was lost with its connection. */
  lost() {
    this._lost = true;
  }

  /**
   * An attempt failed, and the next one waits.
   * @param {{reason: string, attempt: number, delay: number}} wait
   * @param {number} began by the clock: when the attempt did
   */
  waits(wait, began) {
    if (wait.attempt === 0 && this._clock() - began <= UNTOLD) return;
    this._told = true;
    this._notify({ type: 'reconnecting', ...wait });
  }

  /** A frame got its answer. */
  delivered() {
    if (this._lost) this.repaired += 1;
    this._lost = false;
    if (this._told) this._notify({ type: 'reconnected' });
    this._told = false;
  }
}
