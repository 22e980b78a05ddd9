import { AppError, describeError } from '../../../common/errors.js';
import { ASK } from '../../../chats/context/choice.js';
import { drop, droppedOf, pin, places, restore, restoreAll, withDroppedAt } from '../../../chats/context/changes.js';
import { withSettings } from '../../../chats/about.js';
import { kept } from '../../../chats/tree.js';
import { sentence } from '../../words/explain.js';
import { leftOutWords } from '../../words/room.js';
import { t } from '../../words/languages/words.js';

/** @typedef {import('../../../chats/types').Chat} Chat */
/** @typedef {import('../../../chats/types').ContextChoice} ContextChoice */
/** @typedef {import('../../../chats/types').Range} Range */
/** @typedef {import('../../../chats/context/changes.js').Place} Place */
/** @typedef {import('../../../engine/messages.js').Proposal} Proposal */

/** Codes of a prompt that is too long, where leaving something out helps. */
export const FULL = new Set(['context_full', 'prompt_too_long']);

/** What of a chat travels, and what happens where its context is full. */
export class Room {
  /**
   * @param {{library: import('../chats/library.js').Library, gate: import('../redaction/gate.js').Gate,
   *   toasts: import('../toasts.js').Toasts, fixed: () => boolean}} needs
   *   fixed: whether the shown chat cannot be changed now
   */
  constructor({ library, gate, toasts, fixed }) {
    this._library = library;
    this._gate = gate;
    this._toasts = toasts;
    this._fixed = fixed;
    /** Chats that are answered in what room there is. @type {Set<string>} */
    this._declined = new Set();
  }

  /** What the prompt of a chat may have. @param {Chat} chat @returns {import('../../../engine/messages.js').ContextWish} */
  wish(chat) {
    return { budget: (chat.context ?? ASK).budget, reserve: !this._declined.has(chat.id) };
  }

  /** What its policy would drop of a chat. @param {Chat} chat @param {boolean} [now] a quarter, however full it is
   * @returns {Promise<Proposal>} */
  propose(chat, now = false) {
    const { policy, budget } = chat.context ?? ASK;
    return this._gate.of(chat).propose(chat.id, kept(chat), { budget, policy: now ? 'oldest' : policy, now });
  }

  /**
   * A prompt had no room: what the policy of its chat makes of it.
   * @param {string} id @param {unknown} error @returns {Promise<Chat | null>} null: a person is to decide
   */
  async fit(id, error) {
    const chat = this._library.get(id);
    const { policy } = chat?.context ?? ASK;
    // With noise what is sent again is charged, which is said before.
    if (!chat || policy === 'ask' || chat.noise?.on || !FULL.has(describeError(error).code)) return null;
    try {
      const proposal = await this.propose(chat);
      return proposal.units ? this.take(chat, proposal) : null;
    } catch (problem) {
      if (problem instanceof AppError) return null;
      throw problem;
    }
  }

  /**
   * Drops what was proposed for a chat, and says so.
   * @param {Chat} asked @param {Proposal} proposal @returns {Chat | null} null: the chat went another way meanwhile
   */
  take(asked, proposal) {
    const chat = this._library.get(asked.id);
    if (!chat || chat.leaf !== asked.leaf) return null;
    const all = places(asked);
    const before = proposal.dropped.map(([index]) => /** @type {const} */ ([all[index], droppedOf(chat, all[index])]));
    const less = drop(chat, proposal.dropped.map(([index, ranges]) => [all[index], ranges]));
    this._changed(less);
    const tell = (/** @type {unknown} */ error) => this._toasts.show(sentence(describeError(error).message));
    const run = () => void this._library.change(asked.id, (now) => withDroppedAt(now, asked, before)).catch(tell);
    this._toasts.show(leftOutWords(proposal), { label: t('Bring back'), run });
    return less;
  }

  /** The next replies of a chat use what room there is. @param {string} id */
  decline(id) {
    this._declined.add(id);
  }

  /** @param {ContextChoice} choice of the shown chat */
  choose(choice) {
    this._change((chat) => withSettings(chat, { context: choice }));
  }

  /** Leaves parts of a message out by hand. @param {Place} place @param {Range[]} ranges */
  drop(place, ranges) {
    this._change((chat) => drop(chat, [[place, ranges]]));
  }

  /** Has a message travel again, or a part of it. @param {Place} place @param {Range} [range] */
  restore(place, range) {
    this._change((chat) => restore(chat, place, range));
  }

  restoreAll() {
    this._change((chat) => restoreAll(chat));
  }

  /** @param {Place} place @param {boolean} pinned */
  pin(place, pinned) {
    this._change((chat) => pin(chat, place, pinned));
  }

  /** @param {(chat: Chat) => Chat} step of the shown chat */
  _change(step) {
    // While a reply is written, what was sent for it stands.
    if (!this._fixed()) this._changed(step(this._library.chat.value));
  }

  /** @param {Chat} chat */
  _changed(chat) {
    this._declined.delete(chat.id);
    this._library.put(chat);
  }
}
