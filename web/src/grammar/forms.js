// Forms of replies, as those see them who ask for one: a worker of their own builds and follows them.
//
// A form may be of any shape, and what it costs cannot be told from it: the worker is killed when a question takes too
// long, and the next form starts another.
import { AppError } from '../common/errors.js';
import { FormFailed } from './errors.js';
import { COMPILE_MILLISECONDS, STEP_MILLISECONDS } from './limits.js';

/** @typedef {import('../../types/gatelink').Form} Form */
/** @typedef {Pick<Worker, 'postMessage' | 'terminate' | 'onmessage' | 'onerror'>} FormWorker */
/** @typedef {{bytes: Uint8Array, offsets: Uint32Array, eos: number[], strips: boolean}} Vocabulary */
/** @typedef {(text: string) => number[]} Encode */
/** @typedef {{resolve: (result: any) => void, reject: (error: AppError) => void, timer: any}} Waiting */

export class Forms {
  /**
   * @param {{vocabulary?: (() => Vocabulary) | null, encode?: Encode, spawn?: () => FormWorker,
   *   patience?: {compile: number, step: number}}} [options]
   *   vocabulary: null where forms are checked only; encode: as the model's tokenizer does; patience: milliseconds
   */
  constructor({ vocabulary = null, encode = () => [], spawn = spawnWorker, patience = PATIENCE } = {}) {
    this._vocabulary = vocabulary;
    this._encode = encode;
    this._spawn = spawn;
    this._patience = patience;
    /** @type {FormWorker | null} */
    this._worker = null;
    /** @type {Map<number, Waiting>} */
    this._waiting = new Map();
    this._next = 1;
  }

  /**
   * Whether a form can be enforced.
   * @param {Form} form
   * @returns {Promise<void>} rejects with FormInvalid's codes, FormFailed
   */
  check(form) {
    return this._ask({ type: 'check', form }, this._patience.compile);
  }

  /**
   * The constraint of one reply; that of an earlier one is at its end.
   * @param {Form} form @returns {Promise<FormConstraint>} rejects with FormInvalid's codes, FormFailed
   */
  async begin(form) {
    await this._ask({ type: 'begin', form }, this._patience.compile);
    const worker = this._worker;
    return new FormConstraint((question) => {
      // Another worker knows nothing of this reply.
      if (this._worker !== worker) return Promise.reject(new FormFailed('it ended before the reply did'));
      return this._ask(question, this._patience.step);
    });
  }

  /** Ends the worker; the next form starts another. */
  close() {
    this._end('it was closed');
  }

  /** @param {any} request @param {number} milliseconds @returns {Promise<any>} */
  _ask(request, milliseconds) {
    const worker = this._worker ?? this._start();
    return this._asked(worker, request, milliseconds);
  }

  /** @param {FormWorker} worker @param {any} request @param {number} milliseconds */
  _asked(worker, request, milliseconds) {
    const id = this._next++;
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => this._end(`it took longer than ${milliseconds / 1000} s`), milliseconds);
      this._waiting.set(id, { resolve, reject, timer });
      worker.postMessage({ ...request, id });
    });
  }

  _start() {
    const worker = this._spawn();
    this._worker = worker;
    worker.onerror = () => this._worker === worker && this._end('perhaps for want of memory');
    worker.onmessage = ({ data }) => this._worker === worker && this._receive(data);
    // Its answer comes before that to what it is needed for.
    if (this._vocabulary) {
      this._asked(worker, { type: 'vocabulary', ...this._vocabulary() }, this._patience.compile).catch(() => {});
    }
    return worker;
  }

  /** @param {import('./messages.js').Answer} answer */
  _receive(answer) {
    if ('encode' in answer) {
      this._worker?.postMessage({ type: 'encoded', ids: this._encoded(answer.encode) });
      return;
    }
    const waiting = this._waiting.get(answer.id);
    if (!waiting) return;
    this._waiting.delete(answer.id);
    clearTimeout(waiting.timer);
    if ('result' in answer) return waiting.resolve(answer.result);
    const { code, message, retryable } = answer.error;
    waiting.reject(new AppError(code, message, { retryable }));
  }

  /** @param {string} text */
  _encoded(text) {
    try {
      return this._encode(text);
    } catch {
      return null;
    }
  }

  /** @param {string} reason */
  _end(reason) {
    this._worker?.terminate();
    this._worker = null;
    const waiting = [...this._waiting.values()];
    this._waiting.clear();
    for (const { reject, timer } of waiting) {
      clearTimeout(timer);
      reject(new FormFailed(reason));
    }
  }
}

/** A Constraint of generation/loop.js whose answers come from the worker. */
export class FormConstraint {
  /** @param {(question: any) => Promise<any>} ask */
  constructor(ask) {
    this._ask = ask;
    /** Nothing may follow. */
    this.finished = false;
  }

  /** @param {number} remaining @returns {Promise<Uint8Array>} mask [rows] */
  allowed(remaining) {
    return this._ask({ type: 'allowed', remaining });
  }

  /** @param {number} token that was allowed */
  async accept(token) {
    this.finished = await this._ask({ type: 'accept', token });
  }

  /** @param {number} remaining @returns {Promise<number[]>} at most so many */
  forced(remaining) {
    return this._ask({ type: 'forced', remaining });
  }

  /** @param {readonly number[]} tokens @param {number} remaining @returns {Promise<number>} how many of the first */
  permitted(tokens, remaining) {
    return this._ask({ type: 'permitted', tokens, remaining });
  }
}

const PATIENCE = { compile: COMPILE_MILLISECONDS, step: STEP_MILLISECONDS };

/** @returns {FormWorker} */
function spawnWorker() {
  return new Worker(new URL('./grammar.js', import.meta.url), { type: 'module' });
}
