// One at a time, in the order of asking.
import { Cancelled, ChannelBusy } from './errors.js';

const MOST_WAITING = 64;

/** A queue for one thing that only one may use. */
export class Turns {
  constructor() {
    this._taken = false;
    /** @type {(() => void)[]} */
    this._waiting = [];
  }

  get taken() {
    return this._taken;
  }

  /**
   * Waits for the turn.
   * @param {AbortSignal} signal
   * @returns {Promise<() => void>} ends the turn
   * @throws {Cancelled | ChannelBusy}
   */
  async take(signal) {
    if (signal.aborted) throw new Cancelled();
    if (this._taken) await this._wait(signal);
    this._taken = true;
    return () => this._next();
  }

  /**
   * Runs `run` in a turn of its own.
   * @template T
   * @param {AbortSignal} signal @param {() => Promise<T>} run
   * @returns {Promise<T>}
   * @throws {Cancelled | ChannelBusy} as `take`
   */
  async during(signal, run) {
    const endTurn = await this.take(signal);
    try {
      return await run();
    } finally {
      endTurn();
    }
  }

  /** @param {AbortSignal} signal @returns {Promise<void>} */
  _wait(signal) {
    if (this._waiting.length >= MOST_WAITING) throw new ChannelBusy();
    return new Promise((resolve, reject) => {
      const begin = () => {
        signal.removeEventListener('abort', leave);
        resolve();
      };
      const leave = () => {
        this._waiting.splice(this._waiting.indexOf(begin), 1);
        reject(new Cancelled());
      };
      this._waiting.push(begin);
      signal.addEventListener('abort', leave, { once: true });
    });
  }

  _next() {
    const begin = this._waiting.shift();
    // It stays taken when it is handed on, so that nobody slips in between.
    if (begin) begin();
    else this._taken = false;
  }
}
