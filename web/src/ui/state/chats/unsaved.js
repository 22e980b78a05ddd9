import { signal } from '@preact/signals';
import { unsavedOf } from '../../../chats/unsaved.js';

/** @typedef {import('../../../chats/types').Chat} Chat */
/** @typedef {Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>} Memory */

const KEY = 'gatelink.unsaved';
// Characters of all chats together; browsers give a page about five million.
const MOST = 1_000_000;

/** Chats of which the disk does not have the newest state, and what is left behind of them when the page goes. */
export class Unsaved {
  /** @param {Memory | null} memory outlives the page, and is written at once */
  constructor(memory) {
    this._memory = memory;
    /** As the disk has them. @type {Map<string, Chat>} */
    this._saved = new Map();
    /** @type {Map<string, Chat>} */
    this._newest = new Map();
    /** Chats that this page has left something of. @type {Set<string>} */
    this._left = new Set();
    /** Why a chat could not be saved, by id. @type {import('@preact/signals').Signal<Map<string, string>>} */
    this.failed = signal(new Map());
  }

  /** @param {string} id */
  has(id) {
    return this._newest.has(id);
  }

  /** A chat is being saved. @param {Chat} chat */
  put(chat) {
    this._newest.set(chat.id, chat);
  }

  /** @template {Chat | undefined} T @param {T} chat as it was read @returns {T} */
  read(chat) {
    if (chat) this._saved.set(chat.id, chat);
    return chat;
  }

  /** @param {Chat} chat */
  saved(chat) {
    this.read(chat);
    if (this._newest.get(chat.id) !== chat) return;
    this.settled(chat.id);
    if (this._left.delete(chat.id)) this._forget(new Set([chat.id]));
  }

  /** @param {string} id @param {string} why */
  fail(id, why) {
    this.failed.value = new Map(this.failed.value).set(id, why);
  }

  /** What was not saved of a chat is not wanted, or saved by now. @param {string} id */
  settled(id) {
    this._newest.delete(id);
    if (!this.failed.value.has(id)) return;
    const failed = new Map(this.failed.value);
    failed.delete(id);
    this.failed.value = failed;
  }

  /** A chat is gone from the disk. @param {string} id */
  removed(id) {
    this.settled(id);
    this._saved.delete(id);
    this._forget(new Set([id]));
  }

  /** A chat leaves memory. @param {string} id */
  release(id) {
    this._saved.delete(id);
  }

  /** @returns {Chat[]} all of them */
  all() {
    return [...this._newest.values()];
  }

  /** The page goes: what is not saved is written down at once. */
  leave() {
    if (!this._newest.size || !this._memory) return;
    const others = this._kept().filter(([id]) => !this._newest.has(id));
    const own = this.all().map((chat) => /** @type {const} */ ([chat.id, unsavedOf(this._saved.get(chat.id), chat)]));
    for (const [id] of own) this._left.add(id);
    this._write([...others, ...own]);
  }

  /** The page came back: what it left is its own again. */
  back() {
    this._forget(this._left);
    this._left.clear();
  }

  /**
   * What pages that are gone have left behind.
   * @param {(id: string, left: unknown) => Promise<boolean>} take whether it need not be kept any longer
   */
  async recover(take) {
    for (const [id, left] of this._kept()) {
      if (!this.has(id) && (await take(id, left))) this._forget(new Set([id]));
    }
  }

  /** @param {Set<string>} ids */
  _forget(ids) {
    const kept = this._kept();
    const others = kept.filter(([id]) => !ids.has(id));
    if (others.length < kept.length) this._write(others);
  }

  /** @returns {(readonly [string, unknown])[]} */
  _kept() {
    try {
      const kept = JSON.parse(this._memory?.getItem(KEY) ?? '[]');
      return Array.isArray(kept) ? kept.filter((entry) => Array.isArray(entry) && typeof entry[0] === 'string') : [];
    } catch {
      return [];
    }
  }

  /** The newest of them that fit. @param {(readonly [string, unknown])[]} entries */
  _write(entries) {
    const texts = [];
    for (let room = MOST, rest = [...entries]; rest.length;) {
      const text = JSON.stringify(rest.pop());
      if ((room -= text.length) >= 0) texts.unshift(text);
    }
    try {
      if (texts.length) this._memory?.setItem(KEY, `[${texts}]`);
      else this._memory?.removeItem(KEY);
    } catch {
      // A storage that is full, or withheld: what was saved last is what stays.
    }
  }
}
