// The newest replies of all chats, as the tokens that they are.
import { TokenLog } from './token_log.js';

/** @typedef {import('./token_log.js').Kept} Kept */
/** @typedef {import('../messages.js').ReplyRequest} ReplyRequest */
/**
 * One reply: the ids of its `prompt`, the `messages` that became it, and its tokens.
 * @typedef {{name: string, chat: string, messages: string, prompt: number[], log: TokenLog}} Answered
 */

/** Bytes of the states of all replies, the newest first; a phone has that much to spare. */
export const MOST_BYTES = 16 << 20;
const MOST = 32;

/** Of one model; in memory alone. */
export class Answers {
  /** @param {number} [mostBytes] */
  constructor(mostBytes = MOST_BYTES) {
    this._most = mostBytes;
    /** The newest one comes last. @type {Answered[]} */
    this._all = [];
  }

  /**
   * A reply begins; what is given to the log is kept from its first token on.
   * @param {ReplyRequest} request @param {number[]} prompt @param {readonly Kept[]} begun
   * @returns {{take: (token: number, state: Float32Array | null) => void}}
   */
  begin({ answer, chat, messages, mode }, prompt, begun) {
    if (answer === undefined) return { take() {} };
    const log = new TokenLog(begun);
    this._all = this._all.filter(({ name }) => name !== answer).slice(1 - MOST);
    this._all.push({ name: answer, chat, messages: asText(messages, mode), prompt: [...prompt], log });
    this._shrink();
    return {
      take: (token, state) => {
        log.take(token, state);
        this._shrink();
      },
    };
  }

  /** @param {string | null} name @returns {Answered | null} */
  named(name) {
    return this._all.find((answered) => answered.name === name) ?? null;
  }

  /**
   * The reply of that name, if it was made for just these messages.
   * @param {string | null} name @param {ReplyRequest} request @returns {Answered | null}
   */
  to(name, { messages, mode }) {
    const answered = this.named(name);
    return answered?.messages === asText(messages, mode) ? answered : null;
  }

  /** A chat is gone. @param {string} chat */
  forget(chat) {
    this._all = this._all.filter((answered) => answered.chat !== chat);
  }

  /** The model is another one. */
  clear() {
    this._all = [];
  }

  _shrink() {
    let left = this._most;
    for (let at = this._all.length - 1; at >= 0; at--) {
      const { log } = this._all[at];
      log.shrink(Math.max(0, left));
      left -= log.bytes;
    }
  }
}

/** @param {ReplyRequest['messages']} messages @param {ReplyRequest['mode']} mode */
function asText(messages, mode = 'chat') {
  return JSON.stringify([mode, messages.map(({ role, content }) => [role, content])]);
}
