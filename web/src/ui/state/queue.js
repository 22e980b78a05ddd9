import { computed, signal } from '@preact/signals';
import { requireFew, withFiles } from '../../chats/attachments.js';
import { say } from '../../chats/tree.js';
import { joined } from './chats/drafts.js';

/** @typedef {{chat: string, text: string, files: import('../../chats/attachments.js').Attached[]}} Waiting */

/** The message that is sent when the reply that is being written has ended. */
export class Queue {
  /**
   * @param {{library: import('./chats/library.js').Library, draft: import('./chats/drafts.js').Drafts,
   *   attached: import('./attached.js').AttachedFiles, replies: import('./replies.js').Replies, ready: () => boolean, tell: (error: unknown) => void}} needs
   */
  constructor({ library, draft, attached, replies, ready, tell }) {
    this._library = library;
    this._draft = draft;
    this._attached = attached;
    this._replies = replies;
    this._ready = ready;
    this._tell = tell;
    /** Of the chat that is replied to. @type {import('@preact/signals').Signal<Waiting | null>} */
    this.waiting = signal(null);
    const own = computed(() => (this.waiting.value?.chat === library.chat.value.id ? this.waiting.value : null));
    /** Of the shown chat; '': none. */
    this.shown = computed(() => own.value?.text ?? '');
    /** Those that go with it. */
    this.files = computed(() => own.value?.files ?? []);
  }

  /**
   * The next paragraph of what waits, and the files that go with it.
   * @param {string} text of the shown chat, which is replied to; throws AttachmentRefused, and nothing is added
   */
  add(text) {
    const before = this.shown.value;
    requireFew([...this.files.value, ...this._attached.waiting.value]);
    const files = [...this.files.value, ...this._attached.take()];
    this.waiting.value = { chat: this._library.chat.value.id, text: before ? joined(before, text) : text, files };
  }

  /** It waits in the message field instead, and its files above that. */
  takeBack() {
    const waiting = this.waiting.value;
    this.waiting.value = null;
    // A chat that is deleted has no field.
    if (!waiting || !this._library.get(waiting.chat)) return;
    this._draft.putBack(waiting.chat, waiting.text);
    this._attached.putBack(waiting.chat, waiting.files);
  }

  /** The reply has ended. @param {string} chat @param {boolean} whole not stopped, and not broken off */
  ended(chat, whole) {
    if (this.waiting.value?.chat !== chat) return;
    if (!whole) this.takeBack();
    // Who hears of the end before has a reply of his own to leave.
    else queueMicrotask(() => this._send());
  }

  _send() {
    const waiting = this.waiting.value;
    const chat = waiting && this._library.get(waiting.chat);
    if (!chat || this._replies.running.value || !this._ready()) return this.takeBack();
    try {
      const said = say(chat, withFiles(waiting.text, waiting.files));
      this.waiting.value = null;
      void this._replies.answer(said);
      this._draft.keep();
    } catch (error) {
      this.takeBack();
      this._tell(error);
    }
    return undefined;
  }
}
