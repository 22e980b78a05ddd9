import { listAdapters } from '../adapters/listing.js';
import { AppError } from '../common/errors.js';
import { Channel } from '../transport/channel.js';
import { parseManifest } from '../weights/manifest.js';
import { httpReader } from '../weights/http_reader.js';
import { ModelStore } from '../weights/store.js';
import { ChatSession } from './chat.js';
import { NotReady, Paused, ReplyInProgress } from './errors.js';
import { OpenModel } from './model.js';
import { makeReply } from './reply.js';
import { Server } from './server.js';

/** @typedef {import('./messages.js').ReplyRequest} ReplyRequest */
/** @typedef {import('./messages.js').Connected} Connected */

/** The methods that a page may call. */
export const METHODS = /** @type {const} */ ([
  'connect', 'pull', 'pause', 'models', 'remove', 'prepare', 'reply', 'stop', 'stats', 'wake', 'closeChat',
]);

// Caches on the server cost it memory; a chat that is taken up again is sent again.
const MAX_SESSIONS = 2;
// A worker of the ends has died, as when the browser runs out of memory.
const ENDS_FAILED = 'ends_failed';
// Below this many weights in the head one worker is enough.
const SHARDED_FROM = 4_000_000;
const MAX_SHARDS = 4;

/** Everything of a reply: which server, which model, its opened ends, the chats' sessions. */
export class Engine {
  /**
   * @param {(notice: import('./messages.js').Notice) => void} notify
   * @param {{cores?: number, openStore?: typeof ModelStore.open, openModel?: typeof OpenModel.open}} [options]
   */
  constructor(notify, options = {}) {
    const { cores = navigator.hardwareConcurrency ?? 2, openStore = ModelStore.open, openModel = OpenModel.open } = options;
    this._notify = notify;
    this._cores = cores;
    this._openStore = openStore;
    this._opener = openModel;
    /** @type {ModelStore | null} */
    this._store = null;
    /** @type {Server | null} */
    this._server = null;
    /** @type {Channel | null} */
    this._channel = null;
    /** @type {Uint8Array | null} */
    this._offered = null;
    /** @type {OpenModel | null} */
    this._model = null;
    /** @type {Promise<OpenModel> | null} */
    this._opening = null;
    /** @type {import('../../types/gatelink.d.ts').AdapterInfo[]} */
    this._adapters = [];
    /** @type {Map<string, ChatSession>} in the order of their last use */
    this._chats = new Map();
    /** @type {AbortController | null} */
    this._pulling = null;
    /** @type {{id: number, abort: AbortController} | null} */
    this._replying = null;
    /** @type {'auto' | 'websocket' | 'http'} */
    this._transport = 'auto';
  }

  /**
   * @param {{url: string, token: string | null, transport?: 'auto' | 'websocket' | 'http'}} where
   * @returns {Promise<Connected>}
   */
  async connect({ url, token, transport = 'auto' }) {
    const server = new Server(url, token);
    const bytes = await server.manifest();
    const manifest = parseManifest(bytes);
    const store = await this._opened();
    const adapters = await listAdapters({ url, token });
    await this._disconnect(manifest.digest);
    Object.assign(this, { _server: server, _offered: bytes, _adapters: adapters, _transport: transport });
    const models = await store.list();
    const known = models.find((model) => model.digest === manifest.digest);
    const { digest, name, family, licence, maxContext, generation, size, chatTemplate } = manifest;
    return {
      manifest: { digest, name, family, licence, maxContext, generation, size, hasTemplate: chatTemplate !== null },
      stored: known?.complete ?? false,
      doneBytes: known?.bytes ?? 0,
      storage: store.kind,
      freeBytes: await store.free(),
      adapters,
    };
  }

  /** @param {null} _ @param {(progress: {done: number, total: number}) => void} event */
  async pull(_, event) {
    const { server, offered } = this._connected();
    if (this._pulling) throw new AppError('download_in_progress', 'the download is under way');
    const abort = (this._pulling = new AbortController());
    try {
      const { hiddenSize, head } = parseManifest(offered);
      const shards = shardCount(head.rows * hiddenSize, this._cores);
      const read = httpReader({ url: server.url, token: server.token });
      const store = await this._opened();
      await store.pull(offered, { read, shards, signal: abort.signal, onProgress: event });
    } catch (error) {
      throw abort.signal.aborted ? new Paused() : error;
    } finally {
      this._pulling = null;
    }
  }

  pause() {
    this._pulling?.abort();
  }

  async models() {
    return (await this._opened()).list();
  }

  /** @param {{digest: string}} which */
  async remove({ digest }) {
    if (this._model?.manifest.digest === digest) await this._closeModel();
    await (await this._opened()).remove(digest);
  }

  /** @param {null} _ @param {(fraction: number) => void} event */
  async prepare(_, event) {
    const { offered } = this._connected();
    const { digest } = parseManifest(offered);
    if (this._model !== null && this._model.manifest.digest !== digest) await this._closeModel();
    this._model ??= await this._openModel(digest, event);
    return { kernel: this._model.ends.kernel, workers: this._model.ends.workers };
  }

  /** Opens it once, whoever asks meanwhile. @param {string} digest @param {(fraction: number) => void} event */
  _openModel(digest, event) {
    this._opening ??= (async () => {
      const stored = await (await this._opened()).find(digest);
      if (stored === null) throw new NotReady('download the model');
      return this._opener(stored, event);
    })().finally(() => (this._opening = null));
    return this._opening;
  }

  /** @param {ReplyRequest} request @param {(token: any) => void} event @param {number} id */
  async reply(request, event, id) {
    if (this._replying) throw new ReplyInProgress();
    const abort = new AbortController();
    this._replying = { id, abort };
    try {
      if (this._model === null) await this.prepare(null, () => {});
      const model = /** @type {OpenModel} */ (this._model);
      const chat = await this._chat(request.chat, model);
      return await makeReply(chat, model, this._adapters, request, event, abort.signal);
    } catch (error) {
      if (error instanceof AppError && error.code === ENDS_FAILED) await this._dropModel();
      throw error;
    } finally {
      this._replying = null;
    }
  }

  /** @param {{reply: number}} which */
  stop({ reply }) {
    if (this._replying?.id === reply) this._replying.abort.abort();
  }

  /** @returns {Promise<import('./messages.js').Stats>} */
  async stats() {
    const traffic = this._channel?.traffic;
    const newest = [...this._chats.values()].at(-1);
    return {
      bytesUp: traffic?.sent ?? 0,
      bytesDown: traffic?.received ?? 0,
      exchanges: traffic?.exchanges ?? 0,
      transport: this._channel?.transportName ?? null,
      reconnects: this._channel?.reconnects ?? 0,
      cachedTokens: newest?.sequence.cached ?? 0,
      dtype: newest?.dtype ?? null,
    };
  }

  wake() {
    this._channel?.wake();
  }

  /** @param {{chat: string}} which */
  async closeChat({ chat }) {
    const open = this._chats.get(chat);
    this._chats.delete(chat);
    await open?.close();
  }

  /** The chat's session, which is the newest from now on. @param {string} name @param {OpenModel} model */
  async _chat(name, model) {
    const chat = this._chats.get(name) ?? new ChatSession(model, this._open());
    this._chats.delete(name);
    this._chats.set(name, chat);
    if (this._chats.size > MAX_SESSIONS) {
      const [oldest] = this._chats.keys();
      await this.closeChat({ chat: oldest });
    }
    return chat;
  }

  _open() {
    const { server } = this._connected();
    this._channel ??= new Channel({
      url: server.url,
      token: server.token,
      mode: this._transport,
      onNotice: this._notify,
    });
    return this._channel;
  }

  _connected() {
    if (this._server === null || this._offered === null) throw new NotReady('connect to a server');
    return { server: this._server, offered: this._offered };
  }

  async _opened() {
    this._store ??= await this._openStore({});
    return this._store;
  }

  /** Leaves the server; a model with this digest stays open. @param {string} digest */
  async _disconnect(digest) {
    if (this._replying) throw new ReplyInProgress();
    if (this._model !== null && this._model.manifest.digest !== digest) await this._closeModel();
    await this._closeChats();
    this._channel?.close();
    this._channel = null;
  }

  async _closeModel() {
    if (this._replying) throw new ReplyInProgress();
    await this._dropModel();
  }

  /** Lets go of the ends, which are opened again when they are needed. */
  async _dropModel() {
    await this._closeChats();
    const model = this._model;
    this._model = null;
    await model?.close();
  }

  async _closeChats() {
    const chats = [...this._chats.values()];
    this._chats.clear();
    await Promise.all(chats.map((chat) => chat.close()));
  }
}

/**
 * How many workers share the head's rows.
 * @param {number} weights @param {number} cores
 */
export function shardCount(weights, cores) {
  return weights < SHARDED_FROM ? 1 : Math.min(MAX_SHARDS, Math.max(2, cores));
}
