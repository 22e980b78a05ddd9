// The attention of the latest reply; the code for it is loaded with the first reply that asks for it.
import { describeError } from '../../common/errors.js';

/** @typedef {import('./reply.js').ReplyAttention} ReplyAttention */
/** @typedef {import('../messages.js').ReplyRequest} ReplyRequest */
/** @typedef {import('../models/model.js').OpenModel} OpenModel */
/**
 * The sequence with which a reply is made. `push` is given each token that was chosen, `end` comes behind
 * the last one.
 * @typedef {{sequence: import('../../generation/loop.js').Extending, push: (token: number) => void,
 *   end: () => void}} AttendedSequence
 */

/** Of one reply at a time; the next one takes its place. */
export class LatestAttention {
  /** @param {(notice: import('../messages.js').Notice) => void} notify */
  constructor(notify) {
    this._notify = notify;
    /** @type {{chat: string, reply: ReplyAttention} | null} */
    this._latest = null;
  }

  /**
   * @param {ReplyRequest} request
   * @param {OpenModel} model
   * @param {import('../../session/sequence.js').Sequence} sequence
   * @param {number[]} prompt with what is begun of the reply
   * @param {string} [begun] the text of that
   * @returns {Promise<AttendedSequence>}
   */
  async begin({ chat, attention = false, messages, mode, brightness }, model, sequence, prompt, begun = '') {
    this._latest = null;
    const shown = mode === 'plain' ? -1 : 0;
    const about = { messages: messages.slice(shown), brightness: brightness?.slice(shown), begun };
    const reply = attention ? await this._attentionOf(model, about, prompt) : null;
    if (reply === null) return { sequence, push: () => {}, end: () => {} };
    this._latest = { chat, reply };
    return {
      sequence: reply.attending(sequence),
      push: (token) => reply.push(token),
      end: () => reply.end(),
    };
  }

  /** @param {string} chat @returns {ReplyAttention | null} */
  of(chat) {
    return this._latest?.chat === chat ? this._latest.reply : null;
  }

  /** @param {string} chat only if it is this one's */
  forget(chat) {
    if (this._latest?.chat === chat) this._latest = null;
  }

  /**
   * @param {OpenModel} model @param {Pick<ReplyRequest, 'messages' | 'brightness'> & {begun: string}} about
   * @param {number[]} prompt
   * @returns {Promise<ReplyAttention | null>}
   */
  async _attentionOf(model, { messages, brightness, begun }, prompt) {
    const refused = (/** @type {string} */ code) => this._notify({ type: 'no_attention', code });
    try {
      const { ReplyAttention } = await import('./reply.js');
      return new ReplyAttention(model.tokenizer, messages, prompt, refused, { brightness, begun });
    } catch (error) {
      // A file of this app that is not there any more is no reason to give no reply.
      refused(describeError(error).code);
      return null;
    }
  }
}
