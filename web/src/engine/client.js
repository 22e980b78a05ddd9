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
   *   cacheSalt?: string | null, routing?: string | null}} where see Engine.connect
   * @returns {Promise<Connected>}
   */
  connect(where) {
    return this._call('connect', where);
  }

  /** Connections have another routing id from here on. @param {string} routing @returns {Promise<void>} */
  reroute(routing) {
    return this._call('reroute', { routing });
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
    return this._kept(chat, 'attended', from);
  }

  /**
   * The weights of all tokens before one of that reply.
   * @param {string} chat @param {number | null} token from 0; null: the average over all
   * @returns {Promise<Float32Array | null>}
   */
  attention(chat, token) {
    return this._kept(chat, 'row', token);
  }

  /** The tokens of a chat as it is shown. @param {import('./messages.js').Shown} shown @returns {Promise<import('./messages.js').ChatTokens>} */
  chatTokens(shown) {
    return this._call('seen', { ask: 'tokens', ...shown });
  }

  /**
   * What was looked at to choose the token at a position of a chat: the weights of all before it.
   * @param {string} chat @param {number} position @param {number} reply where the reply begins that it is of
   * @returns {Promise<Float32Array | null>} null: it is not kept, or the reply began elsewhere when it was made
   */
  looked(chat, position, reply) {
    return this._kept(chat, 'rowAt', { position, reply });
  }

  /**
   * The brightness of the messages that the latest reply was given, as it has become.
   * @param {string} chat @returns {Promise<(Uint16Array | null)[] | null>} by UTF-16 unit; null: none was gathered
   */
  gathered(chat) {
    return this._kept(chat, 'brightness', null);
  }

  /**
   * All rows that are kept of a chat, as numbers: the largest `weights`, and their `positions`.
   * @param {string} chat @returns {Promise<{position: number, positions: number[], weights: number[]}[]>}
   */
  async lookedRows(chat) {
    const rows = await this._kept(chat, 'rows', null);
    return rows ?? [];
  }

  /**
   * For each token of the latest reply whose row is kept, the share of what it looked at that lies before a position.
   * @param {string} chat @param {number} before @param {number} reply where it begins
   * @returns {Promise<{first: number, shares: Float32Array} | null>} first: position of the first of them
   */
  farBack(chat, before, reply) {
    return this._kept(chat, 'farBack', { before, reply });
  }

  /**
   * Bytes at most that `heads` costs; null: it is not known before a session was open.
   * @param {number} position @returns {Promise<{up: number, down: number} | null>}
   */
  headsCost(position) {
    return this._call('seen', { ask: 'cost', position });
  }

  /**
   * What each head of each layer looked at to choose the token at a position; a session of its own asks for it.
   * @param {import('./messages.js').HeadsWish} asked
   * @returns {Promise<import('./messages.js').Heads>}
   */
  heads(asked) {
    return this._call('seen', { ask: 'heads', ...asked });
  }

  /**
   * Tokens of a reply with their probabilities, some at once.
   * @param {string} answer its name @param {number} from
   * @returns {Promise<import('./messages.js').ReplyTokens | null>} null: the reply is not kept
   */
  tokens(answer, from) {
    return this._call('tokens', { answer, from });
  }

  /**
   * The most likely tokens in the place of one, the likeliest first.
   * @param {string} answer @param {number} at
   * @returns {Promise<import('./messages.js').Alternative[] | null>} null: that is not kept
   */
  alternatives(answer, at) {
    return this._call('alternatives', { answer, at });
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

  /**
   * The adapters that a host computes on ciphertexts; rejects where it cannot be asked.
   * @param {string} host its origin @param {string | null} token
   * @returns {Promise<import('../../types/gatelink.d.ts').AdapterInfo[]>}
   */
  hostedAdapters(host, token) {
    return this._call('hostedAdapters', { host, token });
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

  /**
   * How full the context of a chat is, and how many tokens a text has.
   * @param {string} chat @param {import('./messages.js').Kept[] | null} messages null: it is not asked
   * @param {string} text
   * @returns {Promise<{fill: import('./messages.js').Fill | null, text: number}>}
   */
  count(chat, messages, text) {
    return this._call('count', { chat, messages, text });
  }

  /**
   * What of a chat would be dropped so that a reply has room.
   * @param {string} chat @param {import('./messages.js').Kept[]} messages
   * @param {{budget: number | null, policy: 'ask' | 'oldest' | 'dimmest' | 'pinned', now?: boolean}} how
   * @returns {Promise<import('./messages.js').Proposal>}
   */
  propose(chat, messages, how) {
    return this._call('propose', { chat, messages, ...how });
  }

  /** Ends the worker; what waits for it is rejected. */
  close() {
    this._fail();
  }

  /** @param {string} chat @param {import('./attention/reply.js').Ask} ask @param {any} value */
  _kept(chat, ask, value) {
    return this._call('keptAttention', { chat, ask, value });
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
