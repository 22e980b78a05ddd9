// What may hang while a device sleeps, and is begun anew when it wakes up.
import { Cancelled } from './errors.js';
import { linked } from './signals.js';

// An attempt this young (seconds) cannot have slept: waking up again and again must not restart it.
const YOUNG = 1;

/** `wake` ended an attempt or a wait; not an error that anybody is told. */
export class Woken extends Error {}

/** Runs one thing at a time that `wake` can interrupt. */
export class Wakeable {
  /** @param {() => number} clock seconds, running on while the device sleeps */
  constructor(clock) {
    this._clock = clock;
    /** @type {{waiting: boolean, since: number, interrupt: () => void} | null} */
    this._doing = null;
  }

  /**
   * @template T
   * @param {boolean} waiting whether it is nothing but a wait
   * @param {AbortSignal} signal
   * @param {(stop: AbortSignal) => Promise<T>} run
   * @returns {Promise<T>}
   * @throws {Woken | Cancelled} and what `run` throws
   */
  async run(waiting, signal, run) {
    const stop = linked([signal]);
    this._doing = { waiting, since: this._clock(), interrupt: stop.abort };
    try {
      return await run(stop.signal);
    } catch (error) {
      if (signal.aborted) throw new Cancelled();
      throw stop.signal.aborted ? new Woken() : error;
    } finally {
      this._doing = null;
      stop.release();
    }
  }

  /** Interrupts what is under way. @returns {boolean} false: nothing is */
  wake() {
    if (this._doing === null) return false;
    const { waiting, since, interrupt } = this._doing;
    if (waiting || Math.abs(this._clock() - since) >= YOUNG) interrupt();
    return true;
  }
}
