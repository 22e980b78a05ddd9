import { signal } from '@preact/signals';
import { describeError } from '../../common/errors.js';
import { START, meaningForPage, next } from '../machine/phase.js';
import { Retry } from '../machine/retry.js';
import { Speed } from '../words/speed.js';

/** @typedef {import('../../engine/client.js').EngineClient} Engine */
/**
 * `perSecond`: bytes, null where nothing comes; `retrying`: the connection was lost, and is tried again.
 * @typedef {{done: number, total: number, perSecond: number | null, retrying: boolean}} Progress
 */

// How often the rate is looked at where nothing comes.
const LOOK_MS = 1000;

/** @param {() => void} run @param {number} ms */
function repeatedly(run, ms) {
  const timer = setInterval(run, ms);
  return () => clearInterval(timer);
}

/**
 * The way to a model that can answer: connect, download, prepare; and back when something fails.
 */
export class Connection {
  /**
   * @param {{spawn: () => Engine, url: string, token: () => string | null, forget?: () => void,
   *   salt?: () => string | null, routing?: import('./needs.js').Routing | null, transport: () => 'auto' | 'websocket' | 'http', now?: () => number, retry?: Retry,
   *   every?: (run: () => void, ms: number) => () => void, model?: () => string | null}} needs
   *   `spawn` starts an engine worker; `forget` takes the token out of this browser; `salt` is this browser's own,
   *   for servers that take no token; `routing`: its routing id; `now` in milliseconds;
   *   `every` until what it returns is called; `model`: the name of one of the server's, null: its first
   */
  constructor({
    spawn, url, token, forget = () => {}, salt = () => null, routing = null, transport, now = () => performance.now(), retry, every = repeatedly,
    model = () => null,
  }) {
    this._spawn = spawn;
    this._url = url;
    this._model = model;
    this._token = token;
    this._forget = forget;
    this._salt = salt;
    this._routing = routing;
    /** The token that the server was shown last. @type {string | null} */
    this._shown = null;
    /** Whether the server refused a token of this browser. */
    this.refused = false;
    this._transport = transport;
    this._now = now;
    this._every = every;
    this._round = 0;
    /** Chats whose session was opened before a message was sent. @type {Set<string>} */
    this._expected = new Set();
    /** @type {Engine | null} */
    this._engine = null;
    this._retry = retry ?? new Retry(() => void this.connect());
    /** @type {(notice: import('../../engine/messages.js').Notice) => void} */
    this.onNotice = () => {};
    this.phase = signal(START);
    /** @type {import('@preact/signals').Signal<Progress | null>} */
    this.progress = signal(null);
    /** @type {import('@preact/signals').Signal<number | null>} */
    this.prepared = signal(null);
    /** @type {import('@preact/signals').Signal<{kernel: string, workers: number} | null>} */
    this.ends = signal(null);
  }

  /** The engine worker, started when it is first needed. */
  get engine() {
    if (!this._engine) {
      this._engine = this._spawn();
      this._engine.onNotice = (notice) => this.onNotice(notice);
    }
    return this._engine;
  }

  /** Of the model: the token and the routing id are those of the server, whichever it is. */
  get url() {
    const name = this.model;
    return name === null ? this._url : `${this._url}/m/${name}`;
  }

  /** By which name it was asked for; null: the server's first. */
  get model() {
    return this._model();
  }

  /** Another model of the same server was chosen: nothing of the one before is shown. */
  change() {
    this.phase.value = START;
    this.progress.value = null;
    this.prepared.value = null;
    this.ends.value = null;
    this._expected.clear();
    return this.connect();
  }

  /** Frees what the server holds of a chat; a connection that is gone has freed it. @param {string} id */
  closeChat(id) {
    void this._engine?.closeChat(id).catch(() => {});
  }

  /**
   * A message is being written: where a model is ready, the session of its chat is opened meanwhile, once, as each of
   * them counts against the server's limits. Of a chat with noise nothing begins before it is sent.
   * @param {import('../../chats/types').Chat} chat @param {'exact' | 'int8' | 'off'} [cache]
   */
  expect(chat, cache) {
    if (this.phase.value.name !== 'ready' || this._expected.has(chat.id) || chat.noise?.on) return;
    this._expected.add(chat.id);
    void this._engine?.expect(chat.id, cache).catch(() => {});
  }

  /** Ends a chat and deletes the key of its noise. @param {string} id */
  forgetNoise(id) {
    return this.engine.forgetNoise(id);
  }

  /** What comes is not to be linked with what was: connections have another routing id. */
  routeAnew() {
    if (this._routing) void this._engine?.reroute(this._routing.anew()).catch(() => {});
  }

  /** Asks the server what it serves, and goes as far as it can without asking the user. */
  async connect() {
    await this._attempt({ type: 'connect' }, async (current) => {
      this._shown = this._token();
      // A token has its keeper's other devices find what this one left on the server.
      const cacheSalt = this._shown === null ? this._salt() : null;
      const where = {
        url: this.url, token: this._shown, transport: this._transport(), cacheSalt, routing: this._routing?.id() ?? null,
      };
      const server = await this.engine.connect(where);
      if (!current()) return;
      this._retry.succeeded();
      this.refused = false;
      this._go({ type: 'connected', server });
      if (this.phase.value.name === 'preparing') await this._prepare(current);
    });
  }

  /** Downloads the model's ends, or what is missing of them, and prepares them. */
  async download() {
    await this._attempt({ type: 'download' }, async (current) => {
      await this._pull(current);
      if (!current()) return;
      this._go({ type: 'downloaded' });
      await this._prepare(current);
    });
  }

  /** @param {() => boolean} current */
  async _pull(current) {
    const speed = new Speed();
    this.progress.value = null;
    const show = (/** @type {Omit<Progress, 'perSecond'>} */ { done, total, retrying }) => {
      if (current()) this.progress.value = { done, total, retrying, perSecond: speed.perSecond(this._now()) };
    };
    const onProgress = (/** @type {import('../../weights/download/pull.js').Progress} */ progress) => {
      speed.add(progress.done, this._now());
      show({ ...progress, retrying: Boolean(progress.retrying) });
    };
    const stop = this._every(() => this.progress.value && show(this.progress.value), LOOK_MS);
    try {
      await this.engine.pull({ onProgress });
    } finally {
      stop();
    }
  }

  /** Stops the download; what is here stays. */
  async pause() {
    if (this.phase.value.name === 'downloading') await this.engine.pause();
  }

  /** Deletes a model's files from this device. @param {string} digest */
  async remove(digest) {
    await this.engine.remove(digest);
    this.progress.value = null;
    this.ends.value = null;
    if (this.phase.value.server?.manifest.digest !== digest) return;
    this._go({ type: 'removed' });
    await this.connect();
  }

  /** A reply failed: does that concern more than the reply? @param {unknown} error */
  replyFailed(error) {
    const problem = describeError(error);
    const meaning = meaningForPage(problem.code);
    if (problem.code === 'engine_failed') this._drop();
    if (meaning === 'reconnect') void this.connect();
    else if (meaning || problem.code === 'engine_failed') this._fail(problem);
  }

  /** The network or the page came back. */
  wake() {
    this._engine?.wake();
    this._retry.now();
  }

  /**
   * @param {import('../machine/phase.js').PhaseEvent} event
   * @param {(current: () => boolean) => Promise<void>} steps
   */
  async _attempt(event, steps) {
    const round = ++this._round;
    const current = () => round === this._round;
    this._retry.stop();
    this._go(event);
    try {
      await steps(current);
    } catch (error) {
      if (current()) this._stopped(describeError(error));
    }
  }

  /** @param {() => boolean} current */
  async _prepare(current) {
    this.prepared.value = 0;
    const onPrepare = (/** @type {number} */ fraction) => {
      if (current()) this.prepared.value = fraction;
    };
    const ends = await this.engine.prepare({ onPrepare });
    if (!current()) return;
    this.ends.value = ends;
    this.prepared.value = null;
    this._go({ type: 'prepared' });
  }

  /** @param {{code: string, message: string}} problem */
  _stopped(problem) {
    if (problem.code === 'engine_failed') this._drop();
    // The server was started again with another model: ask it anew.
    if (problem.code === 'weights_changed') return void this.connect();
    if (problem.code === 'model_loading') {
      this._go({ type: 'loading', problem });
      // The server holds each question until the model is there: no need to ask more and more seldom.
      this._retry.succeeded();
      this._retry.wait();
    } else if (problem.code === 'paused') {
      this._go({ type: 'paused', doneBytes: this.progress.value?.done ?? this.phase.value.doneBytes });
    } else {
      this._fail(problem);
    }
  }

  /** @param {{code: string, message: string}} problem */
  _fail({ code, message }) {
    if (meaningForPage(code) === 'needs_token') this._refuse();
    this._go({ type: 'failed', problem: { code, message } });
    if (this.phase.value.name === 'offline') this._retry.wait();
  }

  /** A token that counts no more, as of a device that was revoked, does not stay; one of a newer pairing does. */
  _refuse() {
    this.refused ||= this._shown !== null;
    if (this._shown !== null && this._token() === this._shown) this._forget();
  }

  /** A worker that died answers nothing any more; the next try starts another one. */
  _drop() {
    this._engine?.close();
    this._engine = null;
    this._expected.clear();
  }

  /** @param {import('../machine/phase.js').PhaseEvent} event */
  _go(event) {
    this.phase.value = next(this.phase.value, event);
  }
}
