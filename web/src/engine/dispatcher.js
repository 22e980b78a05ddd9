import { AppError, describeError } from '../common/errors.js';

/** @typedef {import('./messages.js').Call} Call */

/**
 * Answers the page's calls with the methods of `engine`.
 *
 * A method takes the call's params, and a function that sends events on its way.
 */
export class Dispatcher {
  /**
   * @param {Record<string, any>} engine
   * @param {readonly string[]} methods those that may be called
   * @param {(message: any) => void} send
   * @param {(error: unknown) => void} [report] told of errors that have no code
   */
  constructor(engine, methods, send, report = () => {}) {
    this._engine = engine;
    this._methods = new Set(methods);
    this._send = send;
    this._report = report;
  }

  /** @param {Call} call */
  async receive({ id, method, params }) {
    try {
      if (!this._methods.has(method)) throw new AppError('unknown_method', `the engine has no ${method}`);
      const event = (/** @type {any} */ value) => this._send({ id, event: value });
      const result = await this._engine[method](params, event, id);
      this._send({ id, result });
    } catch (error) {
      if (!(error instanceof AppError)) this._report(error);
      this._send({ id, error: describeError(error) });
    }
  }

  /** Something that no call asked for. @param {import('./messages.js').Notice} notice */
  notify(notice) {
    this._send({ id: 0, event: notice });
  }
}
