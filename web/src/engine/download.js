import { AppError } from '../common/errors.js';
import { Paused } from './errors.js';

/** @typedef {(signal: AbortSignal) => Promise<unknown>} Pull */

// Below this many weights in the head one worker is enough.
const SHARDED_FROM = 4_000_000;
const MAX_SHARDS = 4;

/** The download under way: one at a time, which may be paused. */
export class Download {
  constructor() {
    /** @type {{abort: AbortController, ended: Promise<void>} | null} */
    this._running = null;
  }

  /**
   * @param {Pull} pull
   * @throws {Paused | AppError} download_in_progress, and what `pull` throws
   */
  async run(pull) {
    // A paused one ends in a moment.
    while (this._running?.abort.signal.aborted) await this._running.ended;
    if (this._running) throw new AppError('download_in_progress', 'the download is under way');
    const abort = new AbortController();
    const pulled = pull(abort.signal);
    this._running = { abort, ended: settled(pulled) };
    try {
      await pulled;
    } catch (error) {
      throw abort.signal.aborted ? new Paused() : error;
    } finally {
      this._running = null;
    }
  }

  /** What is there stays there. */
  pause() {
    this._running?.abort.abort();
  }
}

/** When it has ended, one way or the other. @param {Promise<unknown>} work @returns {Promise<void>} */
export function settled(work) {
  return work.then(
    () => {},
    () => {},
  );
}

/**
 * In how many parts a head's rows are stored: as many workers share them.
 * @param {number} weights @param {number} cores
 */
export function shardCount(weights, cores) {
  return weights < SHARDED_FROM ? 1 : Math.min(MAX_SHARDS, Math.max(2, cores));
}
