import { computed, signal } from '@preact/signals';
import { AttachmentRefused, fenced, readAttached, requireFew } from '../../chats/attachments.js';
import { keyOf } from './chats/drafts.js';

/** @typedef {import('../../chats/attachments.js').Attached} File */

// Of all chats, at most 1 MB each.
const MOST_WAITING = 64;

/** The text files that go with the next message of each chat; `waiting` are those of the shown one. */
export class AttachedFiles {
  /** @param {() => import('../../chats/types').Chat} shown */
  constructor(shown) {
    this._shown = shown;
    /** By chat, as drafts are. @type {import('@preact/signals').Signal<Map<string, readonly File[]>>} */
    this._files = signal(new Map());
    this.waiting = computed(() => this._files.value.get(keyOf(shown())) ?? []);
    const texts = computed(() => this.waiting.value.map(fenced));
    /** The message of the shown chat as it would be with them. @param {string} message */
    this.preview = (message) => [message, ...texts.value].join('\n\n');
  }

  /** Takes files for the shown chat, all or none. @param {globalThis.File[]} files throws AttachmentRefused */
  async add(files) {
    const chat = keyOf(this._shown());
    const few = () => {
      requireFew([...this._of(chat), ...files]);
      if (this._count() + files.length <= MOST_WAITING) return;
      throw new AttachmentRefused(files[0].name, `${MOST_WAITING} files wait in your chats; send some, or leave some out`);
    };
    few();
    const read = await Promise.all(files.map(readAttached));
    // Others may have come while these were read.
    few();
    this._put(chat, [...this._of(chat), ...read]);
  }

  /** @param {File} file of the shown chat */
  remove(file) {
    this._put(keyOf(this._shown()), this.waiting.value.filter((each) => each !== file));
  }

  /** Those of the shown chat, which wait no longer. @returns {readonly File[]} */
  take() {
    const files = this.waiting.value;
    this._put(keyOf(this._shown()), []);
    return files;
  }

  /** Those of a message that is not sent after all, before what was chosen since. @param {string} chat @param {readonly File[]} files */
  putBack(chat, files) {
    this._put(chat, [...files, ...this._of(chat)]);
  }

  /** A chat is gone. @param {string} chat */
  forget(chat) {
    this._put(chat, []);
  }

  /** @param {string} chat */
  _of(chat) {
    return this._files.value.get(chat) ?? [];
  }

  _count() {
    return [...this._files.value.values()].reduce((sum, files) => sum + files.length, 0);
  }

  /** @param {string} chat @param {readonly File[]} files */
  _put(chat, files) {
    if (!files.length && !this._files.value.has(chat)) return;
    const all = new Map(this._files.value);
    if (files.length) all.set(chat, files);
    else all.delete(chat);
    this._files.value = all;
  }
}
