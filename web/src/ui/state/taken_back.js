import { backAt } from '../../chats/context/shown.js';
import { t } from '../words/languages/words.js';

/** @typedef {import('../../chats/types').Chat} Chat */

/** What left a chat and can be had back while a line tells of it. */
export class TakenBack {
  /**
   * @param {Pick<import('./app.js').App, 'library' | 'replies' | 'elsewhere' | 'toasts'>} app
   * @param {(error: unknown) => void} failed
   */
  constructor({ library, replies, elsewhere, toasts }, failed) {
    this._library = library;
    this._replies = replies;
    this._elsewhere = elsewhere;
    this._toasts = toasts;
    this._failed = failed;
    /** The line that tells of the last one. */
    this._toast = 0;
  }

  /** @param {string} what @param {Chat} before */
  tell(what, before) {
    const run = () => void this._back(before).catch(this._failed);
    this._toast = this._toasts.show(what, { label: t('Bring back'), run });
  }

  /** What is said now follows what is shown. */
  dismiss() {
    this._toasts.dismiss(this._toast);
  }

  /** What was said since stays, as a branch beside it. @param {Chat} before */
  async _back(before) {
    if (this._replies.running.value?.chat === before.id || this._elsewhere.writing.value) return;
    await this._library.change(before.id, (chat) => backAt(chat, before));
  }
}
