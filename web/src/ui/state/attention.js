import { signal } from '@preact/signals';
import { withBrightness } from '../../chats/brightness/kept.js';
import { turnParts } from '../../chats/brightness/turn_places.js';

/** @typedef {import('../../chats/types').Chat} Chat */
/**
 * The reply whose attention the engine keeps; `node` null: it is being made.
 * @typedef {{chat: string, node: string | null}} Kept
 */

/** The reply whose attention is there to be looked at, and why there is none. */
export class Attention {
  constructor() {
    /** @type {import('@preact/signals').Signal<Kept | null>} */
    this.kept = signal(null);
    /** Code with which the last reply that asked for it went on without. */
    this.refused = signal(/** @type {string | null} */ (null));
    this._refusedNow = false;
  }

  /** A reply begins, which the engine lets the one before go for. @param {Chat} chat */
  begin(chat) {
    this._refusedNow = false;
    this.kept.value = chat.attention ? { chat: chat.id, node: null } : null;
  }

  /**
   * Keeps with a chat how bright the reply that has ended has left it.
   * @param {Chat | null} given what it was an answer to
   * @param {Pick<import('../../engine/client.js').EngineClient, 'gathered'>} engine
   * @param {Pick<import('./chats/library.js').Library, 'change'>} library
   */
  async gather(given, engine, library) {
    if (!given?.attention) return;
    const turns = await engine.gathered(given.id).catch(() => null);
    if (turns) await library.change(given.id, (chat) => withBrightness(chat, turnParts(given), turns));
  }

  /**
   * The reply goes on without.
   * @param {string} code @param {number} tokens that it has already
   * @returns {boolean} whether that is news
   */
  refuse(code, tokens) {
    const news = this.refused.value !== code;
    this._refusedNow = true;
    this.refused.value = code;
    if (!tokens) this.kept.value = null;
    return news;
  }

  /** @param {string | null} node the reply in its chat; null: there is none */
  end(node) {
    if (!this.kept.value) return;
    if (!this._refusedNow) this.refused.value = null;
    this.kept.value = node === null ? null : { ...this.kept.value, node };
  }
}

/**
 * @param {import('../../chats/types').Chat | undefined} chat
 * @returns {string | null} the node of its newest reply, where that is the leaf
 */
export function replyAtLeaf(chat) {
  const leaf = chat?.leaf ?? null;
  return leaf !== null && chat?.nodes[leaf].role === 'assistant' ? leaf : null;
}
