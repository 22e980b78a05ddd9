import { PartMissing } from '../common/errors.js';

/** @typedef {import('./models/model.js').OpenModel} OpenModel */

/** Few replies are asked what else could have come. */
const alternatives = () =>
  import('./steering/alternatives.js').catch((error) => {
    throw new PartMissing(error);
  });

/** What counts the context of a chat. */
const counting = () => import('./context/part.js');

/** What a page asks about chats and their replies; nothing of it is sent, but for attention heads. */
export class Looking {
  /**
   * @param {object} parts of an engine
   * @param {import('./attention/latest.js').LatestAttention} parts.attention
   * @param {import('./steering/answers.js').Answers} parts.answers
   * @param {import('./chat/open_chats.js').OpenChats} parts.chats
   * @param {import('./models/served.js').ServedModel} parts.served
   * @param {() => import('./attention/seen.js').Around} parts.around
   */
  constructor({ attention, answers, chats, served, around }) {
    this._attention = attention;
    this._answers = answers;
    this._chats = chats;
    this._served = served;
    this._around = around;
  }

  /**
   * What the latest reply looked at, if it is this chat's and attention was asked for.
   * @param {{chat: string, ask: import('./attention/reply.js').Ask, value: any}} which value: what the answer depends on
   */
  kept({ chat, ask, value }) {
    return this._attention.of(chat)?.answer(ask, value) ?? null;
  }

  /** @param {import('./attention/seen.js').Asked} asked @returns {Promise<any>} */
  async seen(asked) {
    return (await import('./attention/seen.js')).answer(asked, this._around());
  }

  /**
   * How full the context of a chat is, and how many tokens a text has. No reply waits for it.
   * @param {{chat: string, messages: import('./messages.js').Kept[] | null, text: string}} which null: it is not asked
   * @returns {Promise<{fill: import('./messages.js').Fill | null, text: number}>}
   * @throws {import('./errors.js').NotReady} where no model is open
   */
  async count({ chat, messages, text }) {
    const model = this._served.required();
    const { contextOf, counterOf } = await counting();
    const fill = messages && (await contextOf(model, this._chats.get(chat)).fill(messages));
    return { fill, text: counterOf(model).of(text) };
  }

  /**
   * What of a chat would be dropped so that a reply has room; nothing is changed.
   * @param {{chat: string, messages: import('./messages.js').Kept[], budget: number | null,
   *   policy: 'ask' | 'oldest' | 'dimmest' | 'pinned', now?: boolean}} which as ChatContext.propose
   * @returns {Promise<import('./messages.js').Proposal>}
   * @throws {import('./errors.js').NotReady} where no model is open
   */
  async propose({ chat, messages, ...how }) {
    const model = this._served.required();
    const { contextOf } = await counting();
    return contextOf(model, this._chats.get(chat)).propose(messages, how);
  }

  /**
   * Tokens of a reply with their probabilities, some at once.
   * @param {{answer: string, from: number}} which
   * @returns {Promise<import('./messages.js').ReplyTokens | null>} null: the reply is not kept
   */
  tokens({ answer, from }) {
    return this._told(answer, async (model, answered) => (await alternatives()).replyTokens(model, answered, from));
  }

  /**
   * What else could have come in the place of one of them.
   * @param {{answer: string, at: number}} which
   * @returns {Promise<import('./messages.js').Alternative[] | null>} null: that is not kept
   */
  alternatives({ answer, at }) {
    return this._told(answer, async (model, answered) => (await alternatives()).alternativesAt(model, answered, at));
  }

  /**
   * @template T
   * @param {string} name @param {(model: OpenModel, answered: import('./steering/answers.js').Answered) => Promise<T>} ask
   * @returns {Promise<T | null>} null: the reply is not kept
   */
  async _told(name, ask) {
    const answered = this._answers.named(name);
    const { model } = this._served;
    return answered && model ? ask(model, answered) : null;
  }
}
