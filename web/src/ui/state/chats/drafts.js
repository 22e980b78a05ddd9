import { signal } from '@preact/signals';

/** @typedef {import('../../../chats/types').Chat} Chat */
/** @typedef {[chat: string, text: string][]} Kept */

const KEY = 'gatelink.drafts';
// Chats without a message are not kept, so they share one draft.
const NEW = 'new';
// What a reload keeps: the newest of this many, none longer than so many characters.
const MOST = 30;
const LONGEST = 20_000;

/** What stands in the message field of each chat. `value` is that of the shown one. */
export class Drafts {
  /**
   * @param {() => Chat} shown
   * @param {Pick<Storage, 'getItem' | 'setItem'> | null} [memory] keeps them over a reload
   */
  constructor(shown, memory = null) {
    this._shown = shown;
    this._memory = memory;
    /** The one that changed last comes last. @type {import('@preact/signals').Signal<Map<string, string>>} */
    this._texts = signal(new Map(read(memory)));
    /** What changed in this tab since it was kept. @type {Set<string>} */
    this._changed = new Set();
  }

  get value() {
    return this._texts.value.get(keyOf(this._shown())) ?? '';
  }

  set value(text) {
    this._put(keyOf(this._shown()), text);
  }

  /**
   * Opens the chat that is shown next: what is typed while that takes its time is meant for it.
   * @param {() => Promise<void>} open
   */
  async during(open) {
    const before = this._texts.value.get(NEW) ?? '';
    await open();
    const after = this._texts.value.get(NEW) ?? '';
    if (!after || after === before || keyOf(this._shown()) === NEW) return;
    this._put(NEW, before);
    const typed = after.startsWith(before) ? after.slice(before.length) : after;
    this.value = this.value ? `${this.value}\n${typed}` : typed;
  }

  /** A chat is gone. @param {string} id */
  forget(id) {
    this._put(id, '');
    this.keep();
  }

  /**
   * Puts a text before the draft of a chat.
   * @param {string} chat @param {string} text
   */
  putBack(chat, text) {
    this._put(chat, joined(text, this._texts.value.get(chat) ?? ''));
  }

  /**
   * Writes down what changed; other tabs' drafts stay as they are.
   * @param {{chat: string, text: string} | null} [waiting] a message that is sent later, unless the page goes: it
   *   stands before the draft of its chat then
   */
  keep(waiting = null) {
    if (waiting) this._changed.add(waiting.chat);
    if (!this._changed.size || !this._memory) return;
    const others = read(this._memory).filter(([chat]) => !this._changed.has(chat));
    const texts = new Map(this._texts.value);
    if (waiting) texts.set(waiting.chat, joined(waiting.text, texts.get(waiting.chat) ?? ''));
    const changed = [...texts].filter(([chat]) => this._changed.has(chat));
    const own = changed.filter(([, text]) => text.length <= LONGEST);
    try {
      this._memory.setItem(KEY, JSON.stringify([...others, ...own].slice(-MOST)));
      this._changed.clear();
      // Written anew once it is sent.
      if (waiting) this._changed.add(waiting.chat);
    } catch {
      // A storage that is full, or withheld, keeps no drafts; they last as long as the page.
    }
  }

  /** @param {string} key @param {string} text */
  _put(key, text) {
    const texts = new Map(this._texts.value);
    if (!texts.delete(key) && !text) return;
    if (text) texts.set(key, text);
    this._texts.value = texts;
    this._changed.add(key);
  }
}

/** @param {string} first @param {string} then */
export function joined(first, then) {
  return then ? `${first}\n\n${then}` : first;
}

/** What is written for a chat goes by: its id, or that of all new ones. @param {Chat} chat */
export function keyOf(chat) {
  return chat.roots.length ? chat.id : NEW;
}

/** @param {Pick<Storage, 'getItem'> | null} memory @returns {Kept} */
function read(memory) {
  try {
    const kept = JSON.parse(memory?.getItem(KEY) ?? '[]');
    return Array.isArray(kept) ? kept.filter(isDraft).slice(-MOST) : [];
  } catch {
    return [];
  }
}

/** @param {unknown} entry */
function isDraft(entry) {
  return Array.isArray(entry) && entry.length === 2 && entry.every((part) => typeof part === 'string');
}
