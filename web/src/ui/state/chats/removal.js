// Chats deleted on this device, and what a server keeps of them.
import { said } from '../../../chats/said.js';
import { AppError } from '../../../common/errors.js';
import { forgottenWords } from '../../words/forgotten.js';
import { t } from '../../words/languages/words.js';

/** @typedef {import('../../../chats/types').Chat} Chat */

const stillKept = () =>
  t('The chat is deleted here; the server could not be asked to delete what it keeps of it, which goes by itself');
const otherModel = () =>
  t('The chat was with another model: choose that one in the settings to have the server delete what it keeps');
const keyKept = () =>
  t('The chat is deleted, but the key of its noise is still in this browser: undo and delete it again');

export class Removal {
  /**
   * @param {object} parts of the page
   * @param {import('./library.js').Library} parts.library
   * @param {import('../connection.js').Connection} parts.connection
   * @param {import('../redaction/gate.js').Gate} parts.gate
   * @param {import('../replies.js').Replies} parts.replies
   * @param {import('./drafts.js').Drafts} parts.draft
   * @param {import('../attached.js').AttachedFiles} parts.attached
   * @param {import('../toasts.js').Toasts} parts.toasts
   * @param {(error: unknown) => void} parts.tell
   */
  constructor({ library, connection, gate, replies, draft, attached, toasts, tell }) {
    this._library = library;
    this._gate = gate;
    this._connection = connection;
    this._replies = replies;
    this._draft = draft;
    this._attached = attached;
    this._toasts = toasts;
    this._tell = tell;
  }

  /** Deletes a chat here and, as far as it can be asked, on the server. @param {string} id */
  async delete(id) {
    if (this._replies.running.value?.chat === id) this._replies.stop();
    const chat = await this._library.remove(id).catch((error) => this._tell(error));
    if (chat) this._draft.forget(id);
    if (chat) this._attached.forget(id);
    if (chat) await this._forgotten(chat).catch(() => this._toasts.show(stillKept()));
    if (chat?.noise) this._connection.forgetNoise(id).catch(() => this._toasts.show(keyKept()));
    else this._connection.closeChat(id);
  }

  /** Has the server delete what it keeps of a chat, which stays here. @param {string} id */
  async forget(id) {
    try {
      const chat = await this._library.read(id);
      if (!chat) return;
      this._toasts.show(forgottenWords(await this._forgotten(chat)));
      this._connection.routeAnew();
    } catch (error) {
      this._tell(error);
    }
  }

  /** @param {Chat} chat */
  async _forgotten(chat) {
    const replies = said(chat);
    // What was never answered was kept nowhere.
    if (!replies.length) return { positions: 0, left: 0, earlier: true };
    // Names of its rows are made with that model's tokenizer.
    if (chat.served !== undefined && chat.served !== this._connection.model) throw new AppError('other_model', otherModel());
    // Of a chat with noise no plain row may be named: that would tell of its text.
    return this._gate.of(chat).forgetChat(chat.id, chat.noise ? [] : replies);
  }
}
