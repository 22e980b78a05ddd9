// Sessions that the server lost, and how soon the next one may be asked for.
import { delayOf } from '../transport/patience.js';

// Seconds: a session that is lost so soon made way for somebody else's.
const SOON = 10;

export class Losses {
  /**
   * @param {import('../transport/patience.js').Patience} patience
   * @param {object} about
   * @param {() => number} about.clock seconds
   * @param {(seconds: number, signal: AbortSignal) => Promise<void>} about.pause
   * @param {() => number} about.chance 0 to 1
   */
  constructor(patience, { clock, pause, chance }) {
    this._patience = patience;
    this._clock = clock;
    this._pause = pause;
    this._chance = chance;
    this._openedAt = -Infinity;
    /** Sessions in a row that were lost so soon. */
    this._soon = 0;
  }

  /** A session was opened. */
  opened() {
    this._openedAt = this._clock();
  }

  /** It was lost. */
  lost() {
    this._soon = this._clock() - this._openedAt < SOON ? this._soon + 1 : 0;
  }

  /**
   * Waits before a session takes the place of one that was lost soon after it was opened: where more devices
   * talk than there are sessions, coming back at once costs another one its own.
   * @param {AbortSignal} signal
   */
  async backOff(signal) {
    if (this._soon) await this._pause(delayOf(this._patience, this._soon, this._chance()), signal);
  }
}
