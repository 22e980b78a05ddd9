// What the worker of redaction answers.
import { describeError } from '../../common/errors.js';
import { RedactionUnfinished } from '../errors.js';
import { Redactor } from '../redactor.js';

/** @typedef {import('./messages.js').Asked} Asked */
/** @typedef {import('./messages.js').Counted} Counted */
/** @typedef {import('./messages.js').Answer} Answer */

export class RedactionServer {
  /** @param {(answer: Answer) => void} post */
  constructor(post) {
    this._post = post;
    /** By the number of what was asked: what goes on with the lengths of some texts. @type {Map<number, (counted: Counted) => void>} */
    this._counting = new Map();
  }

  /** @param {Asked | Counted} request @returns {Promise<void>} once it is answered */
  async receive(request) {
    if (request.type === 'counted' || request.type === 'uncounted') {
      this._counting.get(request.id)?.(request);
      return;
    }
    try {
      this._post({ id: request.id, result: await this._result(request) });
    } catch (error) {
      this._post({ id: request.id, error: describeError(error) });
    }
  }

  /** @param {Asked} asked */
  async _result(asked) {
    const { secret, entries, ...settings } = asked.map;
    const redactor = new Redactor(settings, secret, entries, (texts) => this._count(asked.id, texts));
    if (asked.type === 'values') return [...new Set(asked.texts.flatMap((text) => redactor.valuesIn(text)))];
    const made = [];
    for (const text of asked.texts) {
      const { text: own, alignment } = await redactor.redacted(text, asked.chat);
      made.push({ text: own, pieces: alignment.pieces });
    }
    return { made, learnt: redactor.entries.all.slice(entries.length) };
  }

  /** @param {number} id @param {string[]} texts @returns {Promise<number[]>} throws RedactionUnfinished */
  _count(id, texts) {
    return new Promise((resolve, reject) => {
      this._counting.set(id, (counted) => {
        this._counting.delete(id);
        if (counted.type === 'counted') resolve(counted.lengths);
        else reject(new RedactionUnfinished('its tokens could not be counted'));
      });
      this._post({ id, count: texts });
    });
  }
}
