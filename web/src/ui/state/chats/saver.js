/** @typedef {import('../../../chats/types').Chat} Chat */

/**
 * Writes chats as they change: one write at a time, and of several waiting ones only the newest.
 */
export class Saver {
  /**
   * @param {(chat: Chat) => Promise<void>} save
   * @param {(error: unknown, chat: Chat) => void} failed told of a write that did not come about
   */
  constructor(save, failed) {
    this._save = save;
    this._failed = failed;
    /** @type {Map<string, Chat>} */
    this._waiting = new Map();
    /** @type {Promise<void> | null} */
    this._running = null;
  }

  /** @param {Chat} chat @returns {Promise<void>} when nothing waits any more */
  put(chat) {
    this._waiting.set(chat.id, chat);
    this._running ??= this._drain();
    return this._running;
  }

  /** Nothing that waits is written for this chat. @param {string} id */
  forget(id) {
    this._waiting.delete(id);
  }

  /** When nothing waits any more. */
  async idle() {
    await this._running;
  }

  async _drain() {
    for (let chat = this._first(); chat; chat = this._first()) {
      this._waiting.delete(chat.id);
      try {
        await this._save(chat);
      } catch (error) {
        this._failed(error, chat);
      }
    }
    this._running = null;
  }

  _first() {
    return this._waiting.values().next().value;
  }
}
