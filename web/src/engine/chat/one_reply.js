import { settled } from '../download.js';
import { ReplyInProgress } from '../errors.js';

/** The reply under way: one at a time, which may be stopped. */
export class OneReply {
  constructor() {
    /** @type {{id: number, chat: string, abort: AbortController, ended: Promise<void>} | null} */
    this._running = null;
  }

  /** Whether there is one. */
  get running() {
    return this._running !== null;
  }

  /** @throws {ReplyInProgress} */
  requireNone() {
    if (this._running) throw new ReplyInProgress();
  }

  /**
   * @template T
   * @param {number} id of the call @param {string} chat
   * @param {(signal: AbortSignal) => Promise<T>} make
   * @returns {Promise<T>}
   * @throws {ReplyInProgress | import('../../common/errors.js').AppError} the latter: what `make` throws
   */
  async run(id, chat, make) {
    this.requireNone();
    const abort = new AbortController();
    const made = make(abort.signal);
    this._running = { id, chat, abort, ended: settled(made) };
    try {
      return await made;
    } finally {
      this._running = null;
    }
  }

  /** @param {number} id of the call */
  stop(id) {
    if (this._running?.id === id) this._running.abort.abort();
  }

  /** Resolves when none of this chat is being made any more. @param {string} chat */
  async end(chat) {
    if (this._running?.chat !== chat) return;
    this._running.abort.abort();
    await this._running.ended;
  }
}
