import { signal } from '@preact/signals';

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

  /** A reply begins, which the engine lets the one before go for. @param {string} chat @param {boolean} asked */
  begin(chat, asked) {
    this._refusedNow = false;
    this.kept.value = asked ? { chat, node: null } : null;
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
