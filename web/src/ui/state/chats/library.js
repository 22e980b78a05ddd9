import { signal } from '@preact/signals';
import { copyOf, placed, rename } from '../../../chats/about.js';
import { newChat } from '../../../chats/tree.js';
import { PartMissing } from '../../../common/errors.js';
import { sentence } from '../../words/explain.js';
import { Disk } from './disk.js';
import { Search } from './search.js';
import { t, tn } from '../../words/languages/words.js';

/** @typedef {import('../../../chats/types').Chat} Chat */
/** @typedef {import('../../../chats/types').ChatSummary} ChatSummary */
/** @typedef {import('../../../chats/store.js').ChatStore} ChatStore */

const LAST_OPEN = 'gatelink.chat';

/** The saved chats of this browser, and the one that is shown. */
export class Library {
  /**
   * @param {{open: () => Promise<ChatStore>, toasts: import('../toasts.js').Toasts,
   *   defaults: () => Parameters<typeof newChat>[0],
   *   memory?: Pick<Storage, 'getItem' | 'setItem' | 'removeItem'> | null, showing?: () => Promise<void>}} needs
   *   `defaults` of a new chat; `memory` keeps which chat was open, and what was not saved when the page went;
   *   `showing` loads what replies are shown with
   */
  constructor({ open, toasts, defaults, memory = null, showing = async () => {} }) {
    this._open = open;
    this._toasts = toasts;
    this._defaults = defaults;
    this._memory = memory;
    this._showing = showing;
    this._disk = new Disk(memory, {
      onWritten: () => this.refresh(),
      onConflict: (message, chat) => this._conflict(message, chat),
    });
    /** Why chats could not be saved, by id. */
    this.failed = this._disk.failed;
    this._search = new Search(() => this._disk.store, toasts);
    /** @type {(id: string) => boolean} */
    this._kept = () => false;
    /** Chats that are newer here than on the disk may be: the shown one, and one that is replied to. */
    /** @type {Map<string, Chat>} */
    this._here = new Map();
    /** Chats that are being deleted: nothing is written for them. @type {Set<string>} */
    this._leaving = new Set();
    /** @type {import('@preact/signals').Signal<ChatSummary[]>} */
    this.list = signal([]);
    /** @type {import('@preact/signals').Signal<Chat>} */
    this.chat = signal(newChat(defaults()));
    this.found = this._search.found;
    /** @type {import('@preact/signals').Signal<'opening' | 'indexeddb' | 'memory'>} */
    this.kind = signal('opening');
  }

  /** Reads the list, and the chat that was open last. */
  async start() {
    const store = await this._open();
    this._disk.store = store;
    store.onChange = (ids) => void this._changedElsewhere(ids);
    this.kind.value = store.kind;
    await this.recover();
    // What was said before the store was open.
    void this._disk.saveAgain();
    await this.refresh();
    const last = this._memory?.getItem(LAST_OPEN);
    if (last && !this.chat.value.roots.length) await this.select(last).catch(() => {});
  }

  async refresh() {
    this.list.value = await this._disk.list();
  }

  /** A new chat, which is saved with its first message. */
  fresh() {
    this._show(newChat(this._defaults()));
  }

  /** @param {string} id */
  async select(id) {
    const saved = this._here.has(id) ? null : await this._disk.load(id);
    // One that changed while it was read is newer here.
    const chat = this._here.get(id) ?? saved;
    if (!chat) return;
    if (chat.leaf !== null) await this._showing();
    this._show(this.get(id) ?? chat);
  }

  /** The newest state of a chat that is in use. @param {string} id @returns {Chat | undefined} */
  get(id) {
    return this.chat.value.id === id ? this.chat.value : this._here.get(id);
  }

  /**
   * A chat has changed: show it where it is the shown one, and save it.
   * @param {Chat} chat
   */
  put(chat) {
    if (this._leaving.has(chat.id)) return;
    this._here.set(chat.id, chat);
    const shown = this.chat.value.id === chat.id;
    if (shown) this.chat.value = chat;
    if (!chat.roots.length) return;
    if (shown) this._opened(chat.id);
    this._disk.put(chat);
  }

  /** Saves a state that is not shown: a reply that is not over. @param {Chat} chat */
  snapshot(chat) {
    if (!this._leaving.has(chat.id)) this._disk.put(chat);
  }

  /** Saves once more what could not be saved. */
  saveAgain() {
    return this._disk.saveAgain();
  }

  /** Puts back what pages that are gone could not save. */
  recover() {
    const put = (/** @type {Chat} */ chat) => {
      if (this._disk.isUnsaved(chat.id)) this._here.set(chat.id, chat);
      if (this.chat.value.id === chat.id) this._show(chat);
    };
    return this._disk.recover((id) => this._kept(id), put);
  }

  /** The page goes: what is not saved is left behind at once. */
  leave() {
    this._disk.leave();
  }

  /** A chat, shown or not. @param {string} id @returns {Promise<Chat | null | undefined>} */
  async read(id) {
    return this.get(id) ?? this._disk.load(id);
  }

  /** @param {string} id @param {string} title */
  rename(id, title) {
    return this.change(id, (chat) => rename(chat, title));
  }

  /** @param {string} id @param {{pinned?: boolean, folder?: string}} place */
  move(id, place) {
    return this.change(id, (chat) => placed(chat, place));
  }

  /**
   * Changes a chat that need not be the shown one.
   * @param {string} id @param {(chat: Chat) => Chat} step
   */
  async change(id, step) {
    const chat = this.get(id) ?? (await this._disk.load(id));
    if (!chat) return;
    this.put(step(chat));
    void this.release(id);
  }

  /**
   * Deletes a chat; while the toast stands it can be had back.
   * @param {string} id @returns {Promise<Chat | undefined>} the chat, if there was one
   */
  async remove(id) {
    const chat = this.get(id) ?? (await this._disk.load(id));
    if (!chat) return undefined;
    await this._erase(id);
    const shown = this.chat.value.id === id;
    if (shown) this.fresh();
    await this.refresh();
    const run = () => (shown ? this._restore(chat) : this.put(chat));
    this._toasts.show(t('Deleted “{title}”', { title: chat.title || t('New chat') }), { label: t('Undo'), run });
    return chat;
  }

  /** @param {string} id */
  async _erase(id) {
    this._leaving.add(id);
    try {
      await this._disk.remove(id);
      this._here.delete(id);
    } finally {
      this._leaving.delete(id);
    }
  }

  /** @param {string} words none: the whole list again */
  search(words) {
    return this._search.run(words);
  }

  /** One chat as a file. @param {string} id @returns {Promise<{name: string, blob: Blob} | null>} */
  async document(id) {
    const chat = this.get(id) ?? (await this._disk.load(id));
    return chat ? (await files()).fileOf(chat) : null;
  }

  /** All chats as one file. @returns {Promise<{name: string, blob: Blob} | null>} */
  async allDocuments() {
    const { fileOfAll } = await files();
    await this._disk.idle();
    return this._disk.store && fileOfAll(this._disk.store, this._disk.unsaved());
  }

  /** Takes in the chats of files of this app or of the terminal. @param {Blob[]} chosen */
  async take(chosen) {
    const chats = await (await files()).chatsIn(chosen);
    await this._disk.store?.saveAll(chats);
    await Promise.all([this.refresh(), this._showing()]);
    const [newest] = [...chats].sort((a, b) => b.updated - a.updated);
    if (newest) this._show(newest);
    this._toasts.show(tn(chats.length, 'Imported {n} chat', 'Imported {n} chats'));
  }

  /**
   * The page was away: what another tab has made of the shown chat may not have reached this one, and a chat
   * that has noise there would be sent plain here.
   */
  async wake() {
    this._disk.back();
    const { id } = this.chat.value;
    await this._disk.idle();
    if (await this._disk.store?.isChangedElsewhere(id)) await this._changedElsewhere([id]);
  }

  /** When everything is written. */
  idle() {
    return this._disk.idle();
  }

  /**
   * A chat is not worked on any more: once written it leaves memory, unless it is shown.
   * @param {string} id
   */
  async release(id) {
    await this._disk.idle();
    if (this.chat.value.id === id || this._kept(id) || this._disk.isUnsaved(id)) return;
    this._here.delete(id);
    this._disk.release(id);
  }

  /** @param {Chat} chat */
  _show(chat) {
    const before = this.chat.value.id;
    this.chat.value = chat;
    this._here.set(chat.id, chat);
    this._opened(chat.id);
    void this.release(before);
  }

  /** Which chat a page that is opened again shows. @param {string} id */
  _opened(id) {
    try {
      this._memory?.setItem(LAST_OPEN, id);
    } catch {
      // A storage that is full, or withheld: the page begins with a new chat then.
    }
  }

  /** Chats that stay in memory though another one is shown. @param {(id: string) => boolean} kept */
  keep(kept) {
    this._kept = kept;
  }

  /** @param {string} message @param {Chat} chat */
  _conflict(message, chat) {
    const run = () => this._restore(copyOf(this.get(chat.id) ?? chat));
    this._toasts.show(sentence(message), { label: t('Keep as a copy'), run });
  }

  /** @param {Chat} chat */
  _restore(chat) {
    this.put(chat);
    this._show(chat);
  }

  /** Another tab has saved or removed chats. @param {string[]} ids */
  async _changedElsewhere(ids) {
    await this.refresh();
    const before = this.chat.value;
    const { id } = before;
    // What is newer here is not thrown away for what another tab did; its save tells of it.
    if (!ids.includes(id) || this._kept(id) || this._disk.isUnsaved(id)) return;
    const chat = await this._disk.load(id).catch(() => null);
    // Nor is a message that was written while the other tab's state was read.
    if (chat && this.chat.value === before) this._show(chat);
  }
}

/** @returns {Promise<typeof import('./later.js')>} */
function files() {
  return import('./later.js').catch((error) => {
    throw new PartMissing(error);
  });
}
