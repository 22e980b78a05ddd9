/** The chats of this browser, by id. */
import { ChatChanged, ChatTooLarge, ChatUnknown, TooManyChats } from './errors.js';
import { IndexedRecords } from './indexed_records.js';
import { MemoryRecords } from './records.js';
import { found } from './search.js';
import { MAX_CHAT_BYTES, sizeOf } from './size.js';
import { briefly } from './about.js';

/** @typedef {import('./types').Chat} Chat */
/** @typedef {import('./types').ChatSummary} ChatSummary */
/** @typedef {import('./types').FoundChat} FoundChat */
/** @typedef {import('./types').Summary} Summary */

export const MAX_CHATS = 10_000;
// One search reads no more than that; what is left out is said.
const MOST_SEARCHED_BYTES = 256 << 20;
const MOST_BATCH_BYTES = 4 << 20;
const MOST_IN_BATCH = 100;
const CHANNEL = 'gatelink-chats';

export class ChatStore {
  #records;
  #channel;
  /** Of each chat: the save that this tab took over, and its own last one with none of others between.
   * @type {Map<string, {from: number, to: number}>} */
  #own = new Map();
  /** @type {Promise<unknown>} */
  #queue = Promise.resolve();

  /**
   * Opens the chats of this browser; where it keeps no database (`kind` 'memory'), chats last as
   * long as the page.
   * @param {{indexedDB?: IDBFactory|null, channel?: BroadcastChannel|null,
   *   patience?: import('./indexed_records.js').Patience}} [from]
   */
  static async open({ indexedDB = factoryHere(), channel = channelHere(), patience } = {}) {
    if (indexedDB) {
      const records = new IndexedRecords(indexedDB, patience);
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
    return summaries.map(({ revision: _, bytes: __, ...summary }) => summary);
  }

  /** @param {string} id @returns {Promise<Chat>} throws ChatUnknown, ChatStoreFailed */
  async load(id) {
    const entry = await this.#records.entry(id);
    if (!entry) throw new ChatUnknown();
    const { revision } = entry.summary;
    if (this.#own.get(id)?.to !== revision) this.#own.set(id, { from: revision, to: revision });
    return { ...entry.chat, revision };
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
      chats.forEach(({ id }, index) => {
        const from = this.#own.get(id)?.from ?? 0;
        this.#own.set(id, { from, to: revisions[index] });
      });
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
      const last = before[index]?.revision;
      if (!this.#mayFollow(chat, last)) throw new ChatChanged();
      const revision = Math.max(last ?? 0, chat.revision ?? 0) + 1;
      change.put({ chat, summary: summaryOf(chat, revision, bytes[index]) });
      return revision;
    });
  }

  /** Whether a chat has seen all that was saved of it. @param {Chat} chat @param {number|undefined} last */
  #mayFollow(chat, last) {
    const own = this.#own.get(chat.id);
    // One that this tab knows and that is gone was removed by another.
    if (!own || last === undefined) return !own && last === undefined;
    return own.to === last && (chat.revision ?? 0) >= own.from;
  }

  /** Whether another tab has saved or removed a chat since this one read or saved it. @param {string} id */
  async isChangedElsewhere(id) {
    const own = this.#own.get(id);
    if (!own) return false;
    const summaries = await this.#newest();
    return summaries.find((summary) => summary.id === id)?.revision !== own.to;
  }

  /** Removes a chat for good; one that is not there is no error. @param {string} id */
  async remove(id) {
    await this.#inTurn(() => this.#records.change(async (change) => change.remove(id)));
    this.#own.delete(id);
    this.#tell([id]);
  }

  /**
   * The chats that have all words in title or text, without regard to case, newest first.
   * @param {string|string[]} words
   * @param {{most?: number, signal?: AbortSignal}} [bounds]
   * @returns {Promise<{found: FoundChat[], leftOut: number}>} leftOut: chats that were not
   *   read, once `most` are found or 256 MB are read, or not shown
   */
  async search(words, { most = 100, signal } = {}) {
    const wanted = (Array.isArray(words) ? words : words.split(/\s+/)).filter(Boolean).slice(0, 32);
    const summaries = await this.#newest();
    const readable = withinBudget(summaries);
    /** @type {FoundChat[]} */
    const matches = [];
    let read = 0;
    for (const batch of batchesOf(readable)) {
      signal?.throwIfAborted();
      for (const chat of await this.#records.chats(batch.map(({ id }) => id))) {
        const match = found(chat, wanted);
        if (match) matches.push(match);
      }
      read += batch.length;
      if (matches.length >= most) break;
    }
    const unshown = Math.max(0, matches.length - most);
    return { found: matches.slice(0, most), leftOut: summaries.length - read + unshown };
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

/** The newest chats that one search may read. @param {Summary[]} summaries */
function withinBudget(summaries) {
  let bytes = 0;
  const end = summaries.findIndex((summary) => (bytes += summary.bytes) > MOST_SEARCHED_BYTES);
  return end < 0 ? summaries : summaries.slice(0, end);
}

/** Several chats at a time: a transaction costs more than a small chat. @param {Summary[]} summaries */
function* batchesOf(summaries) {
  for (let start = 0, end = 0; start < summaries.length; start = end) {
    for (let bytes = 0; end < summaries.length && end - start < MOST_IN_BATCH; end += 1) {
      bytes += summaries[end].bytes;
      if (end > start && bytes > MOST_BATCH_BYTES) break;
    }
    yield summaries.slice(start, end);
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
  return { ...briefly(chat), revision, bytes };
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
