// Work that may hang while a device sleeps, and is begun anew when it wakes up.
import { Cancelled } from './errors.js';
import { NEVER, linked } from './signals.js';

// An attempt this young (seconds) cannot have slept: waking up again and again must not restart it.
const YOUNG = 1;

/** `wake` ended an attempt or a wait; not an error that anybody is told. */
export class Woken extends Error {}

/** Runs one thing at a time that `wake` can interrupt. */
export class Wakeable {
  /**
   * @param {() => number} clock seconds, running on while the device sleeps
   * @param {(seconds: number, signal: AbortSignal) => Promise<void>} pause
   */
  constructor(clock, pause) {
    this._clock = clock;
    this._pause = pause;
    /** @type {Doing | null} */
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
    this._doing = { waiting, since: this._clock(), interrupt: stop.abort, watched: false };
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

  /**
   * Interrupts what is under way, a young attempt only if it has no answer soon: the network under it may
   * have changed.
   * @returns {boolean} false: nothing is
   */
  wake() {
    const doing = this._doing;
    if (doing === null) return false;
    if (doing.waiting || Math.abs(this._clock() - doing.since) >= YOUNG) doing.interrupt();
    else if (!doing.watched) void this._watch(doing);
    return true;
  }

  /** @param {Doing} doing */
  async _watch(doing) {
    doing.watched = true;
    await this._pause(YOUNG, NEVER);
    if (this._doing === doing) doing.interrupt();
  }
}

/** @typedef {{waiting: boolean, since: number, interrupt: () => void, watched: boolean}} Doing */
