/** The chats of this browser, by id. */
import { ChatChanged, ChatTooLarge, ChatUnknown, TooManyChats } from './errors.js';
import { IndexedRecords, MemoryRecords } from './records.js';
import { found } from './search.js';
import { MAX_CHAT_BYTES, sizeOf } from './size.js';

/** @typedef {import('./types').Chat} Chat */
/** @typedef {import('./types').ChatSummary} ChatSummary */
/** @typedef {import('./types').FoundChat} FoundChat */
/** @typedef {import('./types').Summary} Summary */

export const MAX_CHATS = 10_000;
// One search reads no more than that; what is left out is said.
const MOST_SEARCHED_BYTES = 256 << 20;
const CHANNEL = 'gatelink-chats';

export class ChatStore {
  #records;
  #channel;
  /** Which save of each chat this tab has written or read last. @type {Map<string, number>} */
  #seen = new Map();
  /** @type {Promise<unknown>} */
  #queue = Promise.resolve();

  /**
   * Opens the chats of this browser; where it keeps no database (`kind` 'memory'), chats last as
   * long as the page.
   * @param {{indexedDB?: IDBFactory|null, channel?: BroadcastChannel|null}} [from]
   */
  static async open({ indexedDB = factoryHere(), channel = channelHere() } = {}) {
    if (indexedDB) {
      const records = new IndexedRecords(indexedDB);
      try {
        await records.summaries();
        return new ChatStore('indexeddb', records, channel);
      } catch {
        records.close();
      }
    }
    channel?.close();
    return new ChatStore('memory', new MemoryRecords(), null);
  }

  /**
   * @param {'indexeddb'|'memory'} kind
   * @param {IndexedRecords|MemoryRecords} records
   * @param {BroadcastChannel|null} channel
   */
  constructor(kind, records, channel) {
    this.kind = kind;
    this.#records = records;
    this.#channel = channel;
    /** Called when another tab has saved or removed chats. @type {(ids: string[]) => void} */
    this.onChange = () => {};
    if (channel) channel.onmessage = ({ data }) => this.onChange(Array.isArray(data) ? data : []);
  }

  /** All chats, the one that was changed last first. @returns {Promise<ChatSummary[]>} */
  async list() {
    const summaries = await this.#newest();
    return summaries.map(({ id, title, updated, count }) => ({ id, title, updated, count }));
  }

  /** @param {string} id @returns {Promise<Chat>} throws ChatUnknown, ChatStoreFailed */
  async load(id) {
    const entry = await this.#records.entry(id);
    if (!entry) throw new ChatUnknown();
    this.#seen.set(id, entry.summary.revision);
    return entry.chat;
  }

  /**
   * Writes a chat, whole or not at all. What another tab has saved since this one read the chat is
   * not overwritten.
   * @param {Chat} chat
   * @returns {Promise<void>} throws ChatChanged, ChatTooLarge, TooManyChats, StorageFull
   */
  save(chat) {
    return this.saveAll([chat]);
  }

  /** Writes all of them or none. @param {Chat[]} chats @returns {Promise<void>} throws as `save` */
  async saveAll(chats) {
    const bytes = chats.map(checkedSize);
    await this.#inTurn(async () => {
      const revisions = await this.#records.change((change) => this.#put(change, chats, bytes));
      chats.forEach((chat, index) => this.#seen.set(chat.id, revisions[index]));
    });
    this.#tell(chats.map((chat) => chat.id));
  }

  /**
   * @param {import('./records.js').Change} change @param {Chat[]} chats @param {number[]} bytes
   * @returns {Promise<number[]>} revisions
   */
  async #put(change, chats, bytes) {
    const before = await Promise.all(chats.map((chat) => change.summary(chat.id)));
    const added = before.filter((summary) => !summary).length;
    if (added && (await change.count()) + added > MAX_CHATS) throw new TooManyChats(MAX_CHATS);
    return chats.map((chat, index) => {
      if (before[index]?.revision !== this.#seen.get(chat.id)) throw new ChatChanged();
      const revision = (before[index]?.revision ?? 0) + 1;
      change.put({ chat, summary: summaryOf(chat, revision, bytes[index]) });
      return revision;
    });
  }

  /** Removes a chat for good; one that is not there is no error. @param {string} id */
  async remove(id) {
    await this.#inTurn(() => this.#records.change(async (change) => change.remove(id)));
    this.#seen.delete(id);
    this.#tell([id]);
  }

  /**
   * The chats that have all words in title or text, without regard to case, newest first.
   * @param {string|string[]} words
   * @param {{most?: number, signal?: AbortSignal}} [bounds]
   * @returns {Promise<{found: FoundChat[], leftOut: number}>} leftOut: chats that were too many to read
   */
  async search(words, { most = 100, signal } = {}) {
    const wanted = (Array.isArray(words) ? words : words.split(/\s+/)).filter(Boolean).slice(0, 32);
    const summaries = await this.#newest();
    /** @type {FoundChat[]} */
    const matches = [];
    let budget = MOST_SEARCHED_BYTES;
    for (const [index, summary] of summaries.entries()) {
      signal?.throwIfAborted();
      budget -= summary.bytes;
      if (budget < 0 || matches.length >= most) return { found: matches, leftOut: summaries.length - index };
      const entry = await this.#records.entry(summary.id);
      const match = entry && found(entry.chat, wanted);
      if (match) matches.push(match);
    }
    return { found: matches, leftOut: 0 };
  }

  close() {
    this.#channel?.close();
    this.#records.close();
  }

  async #newest() {
    const summaries = await this.#records.summaries();
    return summaries.sort((a, b) => b.updated - a.updated || (a.id < b.id ? 1 : -1)).slice(0, MAX_CHATS);
  }

  /** Changes of this tab one after the other: each must know what the one before has written.
   * @template T @param {() => Promise<T>} work @returns {Promise<T>} */
  #inTurn(work) {
    const done = this.#queue.then(work);
    this.#queue = done.catch(() => {});
    return done;
  }

  /** @param {string[]} ids */
  #tell(ids) {
    this.#channel?.postMessage(ids);
  }
}

/** @param {Chat} chat */
function checkedSize(chat) {
  const bytes = sizeOf(chat);
  if (bytes > MAX_CHAT_BYTES) throw new ChatTooLarge(`a chat has at most ${MAX_CHAT_BYTES >> 20} MB`);
  return bytes;
}

/** @param {Chat} chat @param {number} revision @param {number} bytes @returns {Summary} */
function summaryOf(chat, revision, bytes) {
  const { id, title, updated } = chat;
  return { id, title, updated, count: Object.keys(chat.nodes).length, revision, bytes };
}

/** Some browsers throw where they keep no data for a page. */
function factoryHere() {
  try {
    return globalThis.indexedDB ?? null;
  } catch {
    return null;
  }
}

function channelHere() {
  try {
    return new BroadcastChannel(CHANNEL);
  } catch {
    return null;
  }
}
