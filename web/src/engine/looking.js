import { PartMissing } from '../common/errors.js';

/** @typedef {import('./models/model.js').OpenModel} OpenModel */

/** Few replies are asked what else could have come. */
const alternatives = () =>
  import('./steering/alternatives.js').catch((error) => {
    throw new PartMissing(error);
  });

/** What a page asks about replies that were made: what their tokens looked at, and what else could have come. */
export class Looking {
  /**
   * @param {object} parts of an engine
   * @param {import('./attention/latest.js').LatestAttention} parts.attention
   * @param {import('./steering/answers.js').Answers} parts.answers
   * @param {() => OpenModel | null} parts.model
   * @param {() => import('./attention/seen.js').Around} parts.around
   */
  constructor({ attention, answers, model, around }) {
    this._attention = attention;
    this._answers = answers;
    this._model = model;
    this._around = around;
  }

  /** @param {{chat: string, ask: import('./attention/reply.js').Ask, value: any}} which */
  kept({ chat, ask, value }) {
    return this._attention.of(chat)?.answer(ask, value) ?? null;
  }

  /** @param {import('./attention/seen.js').Asked} asked @returns {Promise<any>} */
  async seen(asked) {
    return (await import('./attention/seen.js')).answer(asked, this._around());
  }

  /** @param {{answer: string, from: number}} which */
  tokens({ answer, from }) {
    return this._told(answer, async (model, answered) => (await alternatives()).replyTokens(model, answered, from));
  }

  /** @param {{answer: string, at: number}} which */
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
    const model = this._model();
    return answered && model ? ask(model, answered) : null;
  }
}
