// What the drafts of replies are made of, and how long it is remembered: in memory only.
import { AppError } from '../../common/errors.js';
import { Drafter } from '../../generation/speculation/drafter.js';
import { Lookahead } from '../../generation/speculation/lookahead.js';
import { Memo } from '../../generation/speculation/memo.js';

/** @typedef {import('../messages.js').ReplyRequest} ReplyRequest */
/** @typedef {import('./session.js').ChatSession} ChatSession */
/** @typedef {{memory: 'chat' | 'server', memo: Memo, drafter: Drafter}} Own */

// Characters that are worth making tokens of.
const LONGEST_EXPECTED = 100_000;

/** Of one server, one model and one token: the engine forgets all when one of them changes. */
export class Drafting {
  constructor() {
    /** Replies of all chats that may be remembered together; null: none. @type {Memo | null} */
    this._shared = null;
    /** @type {WeakMap<ChatSession, Own>} */
    this._chats = new WeakMap();
  }

  /**
   * The sequence of one reply. Of a chat with noise nothing is drafted and nothing remembered: a draft that is taken
   * back is one more noised row, and that there is one depends on the clean prompt.
   * @param {ChatSession} chat @param {ReplyRequest} request @param {(text: string) => number[]} idsOf of a reply
   * @param {number[]} [after] what followed the place that the reply goes on from
   */
  sequence(chat, { drafts = 'auto', draftMemory = 'chat', expected = '' }, idsOf, after = []) {
    if (draftMemory !== 'server') this.forget();
    if (chat.noised !== null || drafts === 'off') return new Lookahead(chat.sequence);
    const drafter = this._drafter(chat, draftMemory);
    drafter.expect(after.length ? after : guessed(expected.slice(0, LONGEST_EXPECTED), idsOf));
    return new Lookahead(chat.sequence, drafter);
  }

  /**
   * No reply of one chat is remembered for another any more: a draft in another chat would send the server again what
   * it was to delete.
   */
  forget() {
    // A reply that is being made may still go by it.
    this._shared?.forget();
    this._shared = null;
  }

  /** @param {ChatSession} chat @param {'chat' | 'server'} memory */
  _drafter(chat, memory) {
    const before = this._chats.get(chat);
    const known = before?.memory === memory ? before : null;
    const memo = (memory === 'server' ? this._shared : known?.memo) ?? new Memo();
    if (memory === 'server') this._shared = memo;
    if (known?.memo === memo) return known.drafter;
    const drafter = Drafter.ofChat(memo);
    this._chats.set(chat, { memory, memo, drafter });
    return drafter;
  }
}

/** @param {string} text @param {(text: string) => number[]} idsOf @returns {number[]} none of what has none */
function guessed(text, idsOf) {
  try {
    return text ? idsOf(text) : [];
  } catch (error) {
    if (error instanceof AppError) return [];
    throw error;
  }
}
