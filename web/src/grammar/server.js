// What the worker of forms answers: one vocabulary, one reply at a time.
import { describeError } from '../common/errors.js';
import { FormFailed, FormTooCostly } from './errors.js';
import { languageOf } from './form.js';
import { FormFollower } from './reply.js';
import { TokenTree } from './tokens/trie.js';

/** @typedef {import('./messages.js').Request} Request */
/** @typedef {import('./messages.js').Answer} Answer */
/** @typedef {import('./language/expressions.js').Expression} Expression */

// Forms whose masks are kept for their next reply.
const MAX_FOLLOWERS = 4;
const IDLE_MILLISECONDS = 30;

export class FormServer {
  /**
   * @param {(message: Answer, transfer?: Transferable[]) => void} post
   * @param {(work: () => void) => void} [later] does what has time
   */
  constructor(post, later = (work) => setTimeout(work, IDLE_MILLISECONDS)) {
    this._post = post;
    this._later = later;
    /** @type {{tree: TokenTree, eos: number[], strips: boolean} | null} */
    this._vocabulary = null;
    /** @type {Map<string, FormFollower>} the latest last */
    this._followers = new Map();
    /** @type {{follower: FormFollower, of: Expression} | null} */
    this._reply = null;
    /** @type {((ids: number[] | null) => void) | null} */
    this._encoded = null;
    this._last = Promise.resolve();
  }

  /** One after the other; what a question waits for itself comes at once. @param {Request} request */
  receive(request) {
    if (request.type === 'encoded') {
      this._encoded?.(request.ids);
      return this._last;
    }
    this._last = this._last.then(() => this._answer(request));
    return this._last;
  }

  /** @param {Exclude<Request, {type: 'encoded'}>} request */
  async _answer(request) {
    try {
      const result = await this._result(request);
      const transfer = result instanceof Uint8Array ? [result.buffer] : [];
      this._post({ id: request.id, result }, transfer);
    } catch (error) {
      const known = error instanceof RangeError ? new FormTooCostly('it is nested too deeply') : error;
      this._post({ id: request.id, error: describeError(known) });
    }
  }

  /** @param {Exclude<Request, {type: 'encoded'}>} request @returns {Promise<any>} */
  async _result(request) {
    switch (request.type) {
      case 'vocabulary': {
        const { eos, strips } = request;
        this._vocabulary = { tree: new TokenTree(request), eos, strips };
        return null;
      }
      case 'check':
        languageOf(request.form);
        return null;
      case 'begin': {
        const follower = this._follower(request.form);
        this._reply = { follower, of: follower.start };
        return null;
      }
      default: return this._asked(request);
    }
  }

  /** @param {import('./messages.js').Question} request */
  async _asked(request) {
    const reply = this._reply;
    if (!reply) throw new FormFailed('there is no reply');
    const { follower, of } = reply;
    switch (request.type) {
      case 'allowed': return (await follower.allowed(of, request.remaining)).slice();
      case 'forced': return follower.forced(of, request.remaining);
      case 'permitted': return follower.permitted(of, request.tokens, request.remaining);
      case 'accept':
        reply.of = follower.after(of, request.token);
        return follower.isFinished(reply.of);
    }
  }

  /** @param {import('../../types/gatelink').Form} form */
  _follower(form) {
    const key = JSON.stringify(form);
    const vocabulary = this._vocabulary;
    if (!vocabulary) throw new FormFailed('there is no vocabulary');
    const { tree, eos, strips } = vocabulary;
    const encode = (/** @type {string} */ text) => this._encode(text);
    const known = this._followers.get(key);
    const follower = known ?? new FormFollower(tree, languageOf(form), { eos, strips, encode });
    // While the prompt travels nothing is asked.
    if (!known) this._later(() => follower.warm());
    this._followers.delete(key);
    this._followers.set(key, follower);
    if (this._followers.size > MAX_FOLLOWERS) this._followers.delete([...this._followers.keys()][0]);
    return follower;
  }

  /** @param {string} text @returns {Promise<number[] | null>} */
  _encode(text) {
    return new Promise((resolve) => {
      this._encoded = resolve;
      this._post({ encode: text });
    });
  }
}
