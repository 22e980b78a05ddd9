import { AppError } from '../common/errors.js';
import { EngineFailed, TextTooCostly } from './client_errors.js';

/** @typedef {import('./messages.js').Connected} Connected */
/** @typedef {import('./messages.js').ReplyRequest} ReplyRequest */
/** @typedef {import('./messages.js').Token} Token */
/** @typedef {import('./messages.js').Finished} Finished */
/** @typedef {import('./messages.js').Stats} Stats */
/** @typedef {import('./messages.js').Notice} Notice */
/** @typedef {import('./messages.js').Attended} Attended */

// As long as a template may take.
const MAX_SECONDS = 10;

/** @returns {Worker} */
function spawnEngine() {
  return new Worker(new URL('./engine.js', import.meta.url), { type: 'module', name: 'engine' });
}

/**
 * The page's side of the engine worker. Every promise rejects with an AppError.
 */
export class EngineClient {
  /** @param {{spawn?: () => Worker, seconds?: number}} [options] seconds: for one text to become tokens */
  constructor({ spawn = spawnEngine, seconds = MAX_SECONDS } = {}) {
    this._seconds = seconds;
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    this._watchdog = undefined;
    /** @type {Map<number, {resolve: (value: any) => void, reject: (error: AppError) => void,
     *   event: (event: any) => void}>} */
    this._calls = new Map();
    this._next = 1;
    this._failed = false;
    /** @type {(notice: Notice) => void} */
    this.onNotice = () => {};
    this._worker = spawn();
    this._worker.onmessage = (message) => this._receive(message.data);
    this._worker.onerror = () => this._fail();
    this._worker.onmessageerror = () => this._fail();
  }

  /**
   * Asks the server what it serves; nothing is downloaded.
   * @param {{url: string, token: string | null, transport?: 'auto' | 'websocket' | 'http',
   *   cacheSalt?: string | null}} where see Engine.connect
   * @returns {Promise<Connected>}
   */
  connect(where) {
    return this._call('connect', where);
  }

  /**
   * Downloads what is missing of the model's ends; rejects with `paused` after pause().
   * @param {{onProgress?: (progress: import('../weights/download/pull.js').Progress) => void}} [options]
   * @returns {Promise<void>}
   */
  pull({ onProgress = () => {} } = {}) {
    return this._call('pull', null, onProgress);
  }

  /** Stops a download; what is there stays. */
  pause() {
    return this._call('pause', null);
  }

  /** @returns {Promise<{digest: string, name: string, complete: boolean, bytes: number}[]>} */
  models() {
    return this._call('models', null);
  }

  /** @param {string} digest @returns {Promise<void>} */
  remove(digest) {
    return this._call('remove', { digest });
  }

  /**
   * Opens the ends; the first time for a large model derives a file, which takes seconds.
   * @param {{onPrepare?: (fraction: number) => void}} [options]
   * @returns {Promise<{kernel: string, workers: number}>}
   */
  prepare({ onPrepare = () => {} } = {}) {
    return this._call('prepare', null, onPrepare);
  }

  /**
   * @param {ReplyRequest} request
   * @param {{onToken?: (token: Token) => void}} [options]
   * @returns {{done: Promise<Finished>, stop: () => void}} stop: the reply ends after its next token
   */
  reply(request, { onToken = () => {} } = {}) {
    const id = this._next;
    const done = this._call('reply', request, onToken);
    return { done, stop: () => void this._call('stop', { reply: id }).catch(() => {}) };
  }

  /** Since connect: bytes of frames, round trips, what carries them. @returns {Promise<Stats>} */
  stats() {
    return this._call('stats', null);
  }

  /**
   * The text of a chat's latest reply whose attention was asked for; null: there is none.
   * @param {string} chat @param {number} from spans that are known already
   * @returns {Promise<Attended | null>}
   */
  attended(chat, from) {
    return this._call('attended', { chat, from });
  }

  /**
   * The weights of all tokens before one of that reply.
   * @param {string} chat @param {number | null} token from 0; null: the average over all
   * @returns {Promise<Float32Array | null>}
   */
  attention(chat, token) {
    return this._call('attention', { chat, token });
  }

  /**
   * What noise promises a chat and has cost so far; the first time a model's table is looked at for it.
   * @param {string} chat @param {import('./messages.js').NoiseWish} settings
   * @returns {Promise<import('../noise/mode.js').NoiseStatus>}
   */
  noise(chat, settings) {
    return this._call('noise', { chat, settings });
  }

  /** Ends a chat and deletes the key of its noise. @param {string} chat @returns {Promise<void>} */
  forgetNoise(chat) {
    return this._call('forgetNoise', { chat });
  }

  /**
   * Has the server delete what it keeps of a chat, which can go on.
   * @param {string} chat @param {import('./messages.js').Message[][]} said the chat up to each of its replies
   * @returns {Promise<import('../session/forgetting.js').Forgotten>}
   */
  forgetChat(chat, said) {
    return this._call('forgetChat', { chat, said });
  }

  /** The network or the page came back: a wait ends at once, a connection that slept is tried. */
  wake() {
    void this._call('wake', null).catch(() => {});
  }

  /** Frees a chat's session on the server. @param {string} chat @returns {Promise<void>} */
  closeChat(chat) {
    return this._call('closeChat', { chat });
  }

  /**
   * A message is being written to a chat without noise: its session is opened meanwhile.
   * @param {string} chat @param {'exact' | 'int8' | 'off'} [cache] @returns {Promise<void>}
   */
  expect(chat, cache) {
    return this._call('expect', { chat, cache });
  }

  /** Ends the worker; what waits for it is rejected. */
  close() {
    this._fail();
  }

  /**
   * @param {string} method
   * @param {any} params
   * @param {(event: any) => void} [event]
   * @returns {Promise<any>}
   */
  _call(method, params, event = () => {}) {
    if (this._failed) return Promise.reject(new EngineFailed());
    const id = this._next++;
    return new Promise((resolve, reject) => {
      this._calls.set(id, { resolve, reject, event });
      this._worker.postMessage({ id, method, params });
    });
  }

  /** @param {import('./messages.js').Answer | import('./messages.js').Event} message */
  _receive(message) {
    if ('event' in message) {
      if (message.id === 0) this._noticed(message.event);
      else this._calls.get(message.id)?.event(message.event);
      return;
    }
    const call = this._calls.get(message.id);
    this._calls.delete(message.id);
    if ('error' in message) {
      const { code, message: text, retryable } = message.error;
      call?.reject(new AppError(code, text, { retryable }));
    } else {
      call?.resolve(message.result);
    }
  }

  /** @param {Notice} notice */
  _noticed(notice) {
    if (notice.type !== 'tokenizing') return this.onNotice(notice);
    clearTimeout(this._watchdog);
    if (notice.busy) this._watchdog = setTimeout(() => this._fail(new TextTooCostly()), this._seconds * 1000);
  }

  /** @param {AppError} [reason] of what waits */
  _fail(reason = new EngineFailed()) {
    clearTimeout(this._watchdog);
    this._failed = true;
    this._worker.terminate();
    const waiting = [...this._calls.values()];
    this._calls.clear();
    for (const call of waiting) call.reject(reason);
  }
}
