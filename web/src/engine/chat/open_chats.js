import { ChatSession } from './session.js';

/** @typedef {import('../models/model.js').OpenModel} OpenModel */
/** @typedef {import('../noise.js').Noised} Noised */
/** @typedef {import('../../../types/gatelink.d.ts').DType} DType */
/** @typedef {import('./session.js').Keeping} Keeping */
/** @typedef {import('../../transport/channel.js').Channel} Channel */

// Caches on the server cost it memory; a chat that is taken up again is sent again.
const MAX_SESSIONS = 2;

/** The chats that have a session on the server: the ones that were used last. */
export class OpenChats {
  constructor() {
    /** @type {Map<string, ChatSession>} in the order of their last use */
    this._sessions = new Map();
    /** @type {DType | null} */
    this._likely = null;
  }

  get size() {
    return this._sessions.size;
  }

  /** What hidden states are likely to travel in: as in the session before. @returns {DType | null} */
  get likely() {
    this._likely = this.newest?.dtype ?? this._likely;
    return this._likely;
  }

  /** The one that was used last. @returns {ChatSession | undefined} */
  get newest() {
    return [...this._sessions.values()].at(-1);
  }

  /** @param {string} name @returns {ChatSession | undefined} */
  get(name) {
    return this._sessions.get(name);
  }

  /** It is the newest from now on. @param {string} name @param {ChatSession} session */
  set(name, session) {
    this._sessions.delete(name);
    this._sessions.set(name, session);
  }

  /**
   * The chat's session, which is the newest from now on.
   * @param {string} name @param {OpenModel} model @param {() => Channel} channel
   * @param {import('../../noise/mode.js').NoiseMode | null} mode null: without noise
   * @param {Keeping} [keeping]
   */
  async take(name, model, channel, mode, keeping = {}) {
    const noised = mode && { mode, conversation: await mode.conversation(name) };
    // Rows with other noise are other rows: the server's cache is of no use for them.
    const fits = isSameNoise(this.get(name)?.noised ?? null, noised) && this.get(name)?.cache === keeping.cache;
    if (!fits) await this.close(name);
    const { likely } = this;
    const session = this.get(name) ?? new ChatSession(model, channel(), noised, keeping, likely);
    this.set(name, session);
    if (this.size > MAX_SESSIONS) {
      const [oldest] = this._sessions.keys();
      await this.close(oldest);
    }
    return session;
  }

  /** @param {string} name */
  async close(name) {
    const session = this._sessions.get(name);
    this._sessions.delete(name);
    await session?.close();
  }

  async closeAll() {
    const sessions = [...this._sessions.values()];
    this._sessions.clear();
    await Promise.all(sessions.map((session) => session.close()));
  }
}

/** Whether the same rows have the same noise. @param {Noised | null} open @param {Noised | null} wanted */
function isSameNoise(open, wanted) {
  if (open === null || wanted === null) return open === wanted;
  return open.mode === wanted.mode && open.conversation.sharesKey(wanted.conversation);
}
