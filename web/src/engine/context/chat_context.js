// The context of one chat: how full it is, and what would be dropped of it.
import { dimmest } from '../../chats/brightness/dimmest.js';
import { candidates, pruned, targetOf, without } from '../../chats/context/pruning.js';
import { spoken } from '../../chats/context/spoken.js';
import { placed, travelling } from '../../chats/context/travelling.js';
import { ContextTooSmall } from '../errors.js';
import { about } from './counter.js';

/** @typedef {import('../../chats/types').Kept} Kept */
/** @typedef {import('../../chats/context/pruning.js').Place} Place */
/** @typedef {import('../messages.js').Fill} Fill */
/** @typedef {import('../messages.js').Proposal} Proposal */

// A text with more characters for each token that there is room for is not counted, as nothing could hold it.
const MOST_PER_TOKEN = 16;
// A token has at least so many characters in the mean of any text that anybody writes.
const LEAST_PER_TOKEN = 2;

export class ChatContext {
  /**
   * @param {{counter: import('./counter.js').TokenCounter,
   *   idsOf: (messages: import('../../../types/gatelink.d.ts').Message[]) => Promise<number[]>,
   *   shared: (ids: number[]) => number, limit: number}} ends
   *   idsOf: of a chat, and of the beginning of its reply where its last message wants one; shared: how many of the
   *   first of them the session holds; limit: tokens that it may hold
   */
  constructor({ counter, idsOf, shared, limit }) {
    this._counter = counter;
    this._idsOf = idsOf;
    this._shared = shared;
    this._limit = limit;
  }

  /** @param {readonly Kept[]} chat @returns {Promise<Fill>} throws what rendering the chat throws */
  async fill(chat) {
    const limit = this._limit;
    const all = placed(chat);
    const counts = await this._counter.each(all.map(({ message }) => message.content), limit * MOST_PER_TOKEN);
    /** @type {number[]} */
    const messages = Array(chat.length).fill(0);
    all.forEach(({ index }, at) => (messages[index] = counts[at]));
    const sum = counts.reduce((left, right) => left + right, 0);
    if (!chat.length || sum > 2 * limit) return { messages, total: sum, again: sum, limit, exact: !chat.length };
    const ids = await this._idsOf(spoken(chat));
    return { messages, total: ids.length, again: ids.length - this._shared(ids), limit, exact: true };
  }

  /**
   * What a policy would drop now, to about three quarters of the budget; nothing is changed.
   * @param {readonly Kept[]} chat
   * @param {{budget: number | null, policy: 'ask' | 'oldest' | 'dimmest' | 'pinned', now?: boolean}} how budget null:
   *   all that there is; now: a quarter of what there is goes, however full it is
   * @param {(chat: readonly Kept[]) => Place[]} [order] what may go, and what of it first
   * @returns {Promise<Proposal>} throws ContextTooSmall, and what rendering the chat throws
   */
  async propose(chat, { budget, policy, now = false }, order = policy === 'dimmest' ? dimmest : candidates) {
    const limit = Math.min(budget ?? Infinity, this._limit);
    const { begun, tokens, before, gone } = await this._countable(chat, limit, order);
    const target = targetOf(now ? Math.min(limit, tokens) : limit);
    // All unpinned go at once; others as many as are too many.
    const least = policy === 'pinned' ? 0 : target;
    const places = order(begun);
    const found = await pruned(begun, places, (each) => this._count(each), (text) => this._counter.of(text), least, tokens);
    if (found.tokens > limit) throw new ContextTooSmall(found.tokens, limit);
    const ids = await this._idsOf(spoken(found.chat));
    const sent = ids.length - this._shared(ids);
    const { tokens: kept, units } = found;
    return { dropped: changes(chat, found.chat), units: gone + units, before, tokens: kept, sent, limit, target };
  }

  /**
   * `chat` without the first of `order` where it is too long for a template, its tokens now and before.
   * @param {readonly Kept[]} chat @param {number} limit @param {(chat: readonly Kept[]) => Place[]} order
   */
  async _countable(chat, limit, order) {
    if (charactersOf(chat) <= limit * MOST_PER_TOKEN) {
      const tokens = await this._count(chat);
      return { begun: [...chat], tokens, before: tokens, gone: 0 };
    }
    const before = travelling(chat).reduce((sum, { content }) => sum + about(content), 0);
    const places = order(chat);
    let [gone, length] = [0, charactersOf(chat)];
    while (gone < places.length && length > targetOf(limit) * LEAST_PER_TOKEN) {
      const { start, stop } = places[gone].unit;
      length -= stop - start;
      gone += 1;
    }
    const begun = without(chat, places.slice(0, gone));
    if (charactersOf(begun) > limit * MOST_PER_TOKEN) throw new ContextTooSmall(before, limit);
    return { begun, tokens: await this._count(begun), before, gone };
  }

  /** @param {readonly Kept[]} chat */
  async _count(chat) {
    return (await this._idsOf(spoken(chat))).length;
  }
}

/** What of each message is dropped, where that is more. @param {readonly Kept[]} before @param {readonly Kept[]} after */
function changes(before, after) {
  return after.flatMap(({ dropped = [] }, index) =>
    dropped === before[index].dropped || !dropped.length
      ? [] : [/** @type {[number, typeof dropped]} */ ([index, dropped])],
  );
}

/** @param {readonly Kept[]} chat */
function charactersOf(chat) {
  return travelling(chat).reduce((sum, { content }) => sum + content.length, 0);
}
