// The page's side of the worker of redaction, which has the lists of names and does all that takes long.
import { AppError, PartMissing } from '../../common/errors.js';
import { Alignment } from '../alignment.js';
import { RedactionUnfinished } from '../errors.js';

/** @typedef {import('./messages.js').ChatMap} ChatMap */
/** @typedef {import('./messages.js').Made} Made */
/** @typedef {import('./messages.js').Answer} Answer */
/** @typedef {import('../redactor.js').Redacted} Redacted */
/** @typedef {import('../surrogates/making.js').CountTokens} CountTokens */
/** @typedef {Pick<Worker, 'postMessage' | 'terminate' | 'onmessage' | 'onerror' | 'onmessageerror'>} RedactionWorker */
/**
 * `counting`: it waits for the page.
 * @typedef {{resolve: (result: any) => void, reject: (error: unknown) => void, count: CountTokens, counting: boolean}} Call
 */

const MOST_WAITING = 64;
// Without a word of the worker, which looks at megabytes in less.
const SECONDS = 60;
const TIMERS = {
  set: (/** @type {() => void} */ run, /** @type {number} */ ms) => setTimeout(run, ms),
  clear: (/** @type {any} */ timer) => clearTimeout(timer),
};

export class RedactionClient {
  /**
   * @param {{spawn?: () => RedactionWorker,
   *   timers?: {set: (run: () => void, ms: number) => unknown, clear: (timer: any) => void}}} [needs]
   */
  constructor({ spawn = spawnWorker, timers = TIMERS } = {}) {
    this._spawn = spawn;
    this._timers = timers;
    /** @type {RedactionWorker | null} */
    this._worker = null;
    /** @type {Map<number, Call>} */
    this._calls = new Map();
    this._next = 1;
    /** @type {unknown} */
    this._timer = null;
  }

  /**
   * Texts with surrogates, and what the map has learnt for them, in this order.
   * @param {ChatMap} map @param {readonly string[]} texts @param {readonly string[]} chat texts in which no surrogate may occur
   * @param {CountTokens} count
   * @returns {Promise<{made: Redacted[], learnt: Made['learnt']}>} rejects with RedactionExhausted, RedactionUnfinished,
   *   PartMissing, and what `count` rejects with
   */
  async redacted(map, texts, chat, count) {
    /** @type {Made} */
    const { made, learnt } = await this._asked({ type: 'redact', map, texts, chat }, count);
    const aligned = made.map(({ text, pieces }, i) => ({ text, alignment: new Alignment(pieces, texts[i].length, text.length) }));
    return { made: aligned, learnt };
  }

  /** The values in texts, each once, as they are spelled there. @param {ChatMap} map @param {readonly string[]} texts @returns {Promise<string[]>} */
  valuesIn(map, texts) {
    return this._asked({ type: 'values', map, texts }, async () => []);
  }

  /** @param {object} asked @param {CountTokens} count @returns {Promise<any>} */
  _asked(asked, count) {
    return new Promise((resolve, reject) => {
      if (this._calls.size >= MOST_WAITING) throw new RedactionUnfinished('too many other texts wait');
      const id = this._next++;
      this._calls.set(id, { resolve, reject, count, counting: false });
      try {
        this._post({ id, ...asked });
      } catch (error) {
        this._fail(new PartMissing(error));
      }
    });
  }

  /** @param {object} message */
  _post(message) {
    this._worker ??= this._begun();
    this._worker.postMessage(message);
    this._wait();
  }

  _begun() {
    const worker = this._spawn();
    worker.onmessage = ({ data }) => void this._receive(data);
    worker.onerror = (event) => this._fail(new PartMissing(event));
    worker.onmessageerror = (event) => this._fail(new PartMissing(event));
    return worker;
  }

  /** @param {Answer} answer */
  async _receive(answer) {
    const call = this._calls.get(answer.id);
    if (call && 'count' in answer) {
      call.counting = true;
      this._wait();
      await this._count(answer.id, call, answer.count);
      return;
    }
    this._calls.delete(answer.id);
    this._wait();
    if ('result' in answer) call?.resolve(answer.result);
    else if ('error' in answer) call?.reject(new AppError(answer.error.code, answer.error.message, answer.error));
  }

  /** @param {number} id @param {Call} call @param {string[]} texts */
  async _count(id, call, texts) {
    const worker = this._worker;
    const lengths = await call.count(texts).catch((error) => {
      this._calls.delete(id);
      call.reject(error);
      return null;
    });
    call.counting = false;
    // What asked may have ended meanwhile.
    if (this._worker === worker) this._post(lengths ? { type: 'counted', id, lengths } : { type: 'uncounted', id });
  }

  /** From now on, as long as the worker has something to do. */
  _wait() {
    this._timers.clear(this._timer);
    const works = [...this._calls.values()].some(({ counting }) => !counting);
    this._timer = works ? this._timers.set(() => this._fail(new RedactionUnfinished(`it took longer than ${SECONDS} s`)), 1000 * SECONDS) : null;
  }

  /** The next call begins another worker. @param {AppError} error */
  _fail(error) {
    const [worker, calls] = [this._worker, [...this._calls.values()]];
    this._worker = null;
    this._calls.clear();
    this._wait();
    if (worker) {
      worker.onmessage = null;
      worker.onerror = null;
      worker.onmessageerror = null;
      worker.terminate();
    }
    for (const { reject } of calls) reject(error);
  }
}

/** @returns {RedactionWorker} */
function spawnWorker() {
  return new Worker(new URL('./redaction.js', import.meta.url), { type: 'module', name: 'redaction' });
}
