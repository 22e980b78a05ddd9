// Sessions that the server lost, and how soon the next one may be asked for.
import { delayOf } from '../transport/patience.js';

// Seconds: a session that is lost so soon, with the server going on, made way for somebody else's.
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
    this._connection = 0;
    /** @type {string | null} */
    this._replica = null;
    /** Sessions in a row that made way. */
    this._soon = 0;
  }

  /**
   * A session was opened.
   * @param {number} connection which of its channel's, counted
   * @param {string | null} replica what the server calls itself
   */
  opened(connection, replica) {
    this._openedAt = this._clock();
    this._connection = connection;
    // Its neighbour has not taken anything from anybody.
    if (replica !== this._replica) this._soon = 0;
    this._replica = replica;
  }

  /** It was lost. @param {number} connection another one than that of its opening: its server may have died */
  lost(connection) {
    const soon = this._clock() - this._openedAt < SOON;
    this._soon = soon && connection === this._connection ? this._soon + 1 : 0;
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
