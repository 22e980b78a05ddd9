// What the latest reply looked at; the code for it is loaded with the first reply that asks for it.
import { describeError } from '../../common/errors.js';

/** @typedef {import('./reply.js').Looked} Looked */
/** @typedef {import('../messages.js').ReplyRequest} ReplyRequest */
/** @typedef {import('../models/model.js').OpenModel} OpenModel */
/**
 * What a reply is made with. `push` is given each token that was chosen, `end` comes behind the last one.
 * @typedef {{sequence: import('../../generation/loop.js').Extending, push: (token: number) => void, end: () => void}} Watched
 */

/** Of one reply at a time; the next one takes its place. */
export class LatestAttention {
  /** @param {(notice: import('../messages.js').Notice) => void} notify */
  constructor(notify) {
    this._notify = notify;
    /** @type {{chat: string, looked: Looked} | null} */
    this._latest = null;
  }

  /**
   * @param {ReplyRequest} request
   * @param {OpenModel} model
   * @param {import('../../session/sequence.js').Sequence} sequence
   * @param {number[]} prompt
   * @returns {Promise<Watched>}
   */
  async watch({ chat, attention = false, messages, mode }, model, sequence, prompt) {
    this._latest = null;
    const looked = attention ? await this._begun(model, mode === 'plain' ? messages.slice(-1) : messages, prompt) : null;
    if (looked === null) return { sequence, push: () => {}, end: () => {} };
    this._latest = { chat, looked };
    return {
      sequence: looked.watching(sequence),
      push: (token) => looked.push(token),
      end: () => looked.end(),
    };
  }

  /** @param {string} chat @returns {Looked | null} */
  of(chat) {
    return this._latest?.chat === chat ? this._latest.looked : null;
  }

  /** @param {string} chat only if it is this one's */
  forget(chat) {
    if (this._latest?.chat === chat) this._latest = null;
  }

  /**
   * @param {OpenModel} model @param {ReplyRequest['messages']} messages @param {number[]} prompt
   * @returns {Promise<Looked | null>}
   */
  async _begun(model, messages, prompt) {
    const refused = (/** @type {string} */ code) => this._notify({ type: 'no_attention', code });
    try {
      const { Looked } = await import('./reply.js');
      return new Looked(model.tokenizer, messages, prompt, refused);
    } catch (error) {
      // A file of this app that is not there any more is no reason to give no reply.
      refused(describeError(error).code);
      return null;
    }
  }
}
