import { describeError } from '../../../common/errors.js';
import { briefly } from '../../../chats/about.js';
import { Saver } from './saver.js';
import { Unsaved } from './unsaved.js';

/** @typedef {import('../../../chats/types').Chat} Chat */
/** @typedef {import('../../../chats/types').ChatSummary} ChatSummary */
/** @typedef {import('../../../chats/store.js').ChatStore} ChatStore */

/** The saved chats: written one after the other, and what could not be written is known and not forgotten. */
export class Disk {
  /**
   * @param {import('./unsaved.js').Memory | null} memory keeps what a page that goes could not write
   * @param {{onWritten: () => Promise<void>, onConflict: (message: string, chat: Chat) => void}} told
   *   onWritten: the list is another one; onConflict: another tab has saved the chat, which is not overwritten
   */
  constructor(memory, { onWritten, onConflict }) {
    this._onWritten = onWritten;
    this._onConflict = onConflict;
    /** null: it is not open yet. @type {ChatStore | null} */
    this.store = null;
    this._unsaved = new Unsaved(memory);
    /** Why chats could not be saved, by id. */
    this.failed = this._unsaved.failed;
    this._saver = new Saver(
      (chat) => this._write(chat),
      (error, chat) => void this._notSaved(error, chat),
    );
  }

  /** Chats that the disk did not take stand first: they can be opened as long as the page lasts. */
  async list() {
    const saved = (await this.store?.list()) ?? [];
    const lost = this._unsaved.all().filter(({ id }) => this.failed.value.has(id));
    return [...lost.filter(({ id }) => !saved.some((chat) => chat.id === id)).map(briefly), ...saved];
  }

  /** @param {string} id */
  async load(id) {
    return this._unsaved.read(await this.store?.load(id));
  }

  /** @param {Chat} chat */
  put(chat) {
    this._unsaved.put(chat);
    void this._saver.put(chat);
  }

  /** @param {string} id */
  async remove(id) {
    this._saver.forget(id);
    await this._saver.idle();
    await this.store?.remove(id);
    this._unsaved.removed(id);
  }

  /** Whether a chat is newer here. @param {string} id */
  isUnsaved(id) {
    return this._unsaved.has(id);
  }

  /** All chats that are newer here. */
  unsaved() {
    return this._unsaved.all();
  }

  /** Writes once more what could not be written. */
  async saveAgain() {
    for (const chat of this._unsaved.all()) void this._saver.put(chat);
    await this._saver.idle();
  }

  /** When nothing waits to be written. */
  idle() {
    return this._saver.idle();
  }

  /** A chat leaves memory. @param {string} id */
  release(id) {
    this._unsaved.release(id);
  }

  /** The page goes: what is not written is left behind at once, for the next page. */
  leave() {
    this._unsaved.leave();
  }

  /** The page is back, and writes on by itself. */
  back() {
    this._unsaved.back();
  }

  /**
   * Puts back what pages that are gone could not write.
   * @param {(id: string) => boolean} isBusy chats that are newer here in any case
   * @param {(chat: Chat) => void} put takes a chat that came back
   */
  async recover(isBusy, put) {
    // What lasts as long as the page is no place to put it back into.
    if (this.store?.kind === 'memory') return;
    await this._unsaved.recover(async (id, left) => !isBusy(id) && this._recover(id, left, put));
  }

  /**
   * @param {string} id @param {unknown} left @param {(chat: Chat) => void} put
   * @returns {Promise<boolean>} whether it is done with
   */
  async _recover(id, left, put) {
    if (!this.store) return false;
    try {
      const { recover } = await import('./later.js');
      const { chat, saved } = await recover(this.store, id, left);
      if (chat && saved) this._unsaved.read(chat);
      else if (chat) this.put(chat);
      if (chat) put(chat);
      return saved;
    } catch {
      // Neither the storage nor the server answers: it stays for another time.
      return false;
    }
  }

  /** @param {Chat} chat */
  async _write(chat) {
    if (!this.store) return;
    await this.store.save(chat);
    this._unsaved.saved(chat);
    await this._onWritten();
  }

  /** @param {unknown} error @param {Chat} chat */
  async _notSaved(error, chat) {
    const { code, message } = describeError(error);
    if (code === 'chat_changed') {
      this._unsaved.settled(chat.id);
      return this._onConflict(message, chat);
    }
    this._unsaved.fail(chat.id, message);
    // So that it can be exported though the server goes, too.
    void import('./later.js').catch(() => {});
    return this._onWritten();
  }
}
