/**
 * The keeper of chats, each with its summary, and the one that keeps them in memory: where the browser
 * offers no database they last until the page is closed.
 */

/** @typedef {import('./types').Chat} Chat */
/** @typedef {import('./types').Summary} Summary */
/** @typedef {{chat: Chat, summary: Summary}} Entry */
/** What a change sees and does; nothing of it counts before the change has ended.
 * @typedef {{summary: (id: string) => Promise<Summary|undefined>, count: () => Promise<number>,
 *   put: (entry: Entry) => void, remove: (id: string) => void}} Change */

export class MemoryRecords {
  constructor() {
    /** @type {Map<string, Entry>} */
    this.entries = new Map();
  }

  /** @returns {Promise<Summary[]>} */
  async summaries() {
    return [...this.entries.values()].map((entry) => entry.summary);
  }

  /** @param {string} id @returns {Promise<Entry|null>} */
  async entry(id) {
    return this.entries.get(id) ?? null;
  }

  /** @param {string[]} ids @returns {Promise<Chat[]>} */
  async chats(ids) {
    return ids.map((id) => this.entries.get(id)?.chat).filter((chat) => chat !== undefined);
  }

  /** @template T @param {(change: Change) => Promise<T>} work @returns {Promise<T>} */
  async change(work) {
    /** @type {(() => void)[]} */
    const steps = [];
    const result = await work({
      summary: async (id) => this.entries.get(id)?.summary,
      count: async () => this.entries.size,
      put: (entry) => steps.push(() => this.entries.set(entry.chat.id, entry)),
      remove: (id) => steps.push(() => this.entries.delete(id)),
    });
    for (const step of steps) step();
    return result;
  }

  close() {
    this.entries.clear();
  }
}
