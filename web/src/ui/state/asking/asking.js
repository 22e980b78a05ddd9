import { withFiles } from '../../../chats/attachments.js';
import { turnedBack } from '../../../chats/context/changes.js';
import { editMessage, nodeOf, regenerateFrom, say } from '../../../chats/tree.js';
import { keyOf } from '../chats/drafts.js';
import { circumstances, isFinal, isSame, varied } from './repeats.js';
import { wishesOf } from './wishes.js';

/** @typedef {import('../../../chats/types').Chat} Chat */
/** @typedef {import('../replies.js').Wishes} Wishes */

/** What a user says in the shown chat, and asks to be answered anew. */
export class Asking {
  /** @param {import('../app.js').App} app @param {(error: unknown) => void} tell */
  constructor(app, tell) {
    this._app = app;
    this._tell = tell;
  }

  /** @param {string} text @returns {boolean} whether it went, or waits for the end of the reply */
  send(text) {
    const app = this._app;
    if (app.busyHere.value && text.trim()) return app.attempt(() => this._later(text));
    if (app.hindrance.value !== null || !text.trim()) return false;
    // While the chat has no message yet, its draft and files are those of all new chats.
    const [draft, key] = [app.draft.value, keyOf(app.library.chat.value)];
    const files = app.attached.take();
    app.draft.value = '';
    const went = this._answer(() => say(app.library.chat.value, withFiles(text, files)));
    if (went) return true;
    app.draft.value = draft;
    app.attached.putBack(key, files);
    return false;
  }

  /** @param {string} node @param {string} text @returns {boolean} whether it went */
  edit(node, text) {
    const app = this._app;
    if (app.hindrance.value !== null || !text.trim()) return false;
    const went = this._answer(() => editMessage(app.library.chat.value, node, text));
    if (went) app.editing.value = null;
    return went;
  }

  /**
   * Another reply to the message before this one. Where it would be the same it is not made yet: `repeating` says so.
   * @param {string | null} node null: the last
   * @param {'as_set' | 'varied'} [how] what was chosen then; varied: drawn anew, for this reply alone
   */
  regenerate(node, how) {
    const app = this._app;
    if (app.hindrance.value !== null) return false;
    const chat = app.library.chat.value;
    if (node && !how && isSame(nodeOf(chat, node), chat, this._wishes(), this._recommended())) {
      app.repeating.value = app.repeating.value === node ? null : node;
      return false;
    }
    const otherwise = how === 'varied' ? (/** @type {Wishes} */ wishes) => varied(wishes, this._recommended()) : undefined;
    return this._answer(() => regenerateFrom(node ? turnedBack(chat, node) : chat), otherwise);
  }

  /** Whether the message that has no reply would get none again, as nothing is other than when it failed. */
  unanswerable() {
    const { replies, library } = this._app;
    const failure = replies.failure.value;
    return failure !== null && isFinal(failure, circumstances(library.chat.value, this._wishes()));
  }

  /** Has a message wait for the end of the reply. @param {string} text */
  _later(text) {
    this._app.queue.add(text);
    this._app.draft.value = '';
  }

  /** @param {() => Chat} step @param {(wishes: Wishes) => Wishes} [otherwise] @returns {boolean} whether a reply is made */
  _answer(step, otherwise) {
    const app = this._app;
    try {
      void app.replies.answer(step(), otherwise);
      app.repeating.value = null;
      // What is said now follows what is shown; what was undone is a branch.
      app.takenBack.dismiss();
      return true;
    } catch (error) {
      this._tell(error);
      return false;
    }
  }

  _wishes() {
    return wishesOf(this._app.settings.value);
  }

  _recommended() {
    return this._app.connection.phase.value.server?.manifest.generation;
  }
}
