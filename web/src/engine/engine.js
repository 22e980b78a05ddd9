import { listAdapters } from '../adapters/listing.js';
import { AppError } from '../common/errors.js';
import { Channel } from '../transport/channel.js';
import { parseManifest } from '../weights/manifest.js';
import { httpReader } from '../weights/http_reader.js';
import { ModelStore } from '../weights/store.js';
import { LatestAttention } from './attention.js';
import { ChatSession } from './chat.js';
import { Download, settled } from './download.js';
import { ConnectSuperseded, NotReady, ReplyInProgress, WeightsChanged } from './errors.js';
import { OpenModel } from './model.js';
import { ModelSlot } from './model_slot.js';
import { Models } from './models.js';
import { Noise } from './noise.js';
import { makeReply } from './reply.js';
import { Server } from './server.js';

/** @typedef {import('./messages.js').ReplyRequest} ReplyRequest */
/** @typedef {import('./messages.js').Connected} Connected */

/** The methods that a page may call. */
export const METHODS = /** @type {const} */ ([
  'connect', 'pull', 'pause', 'models', 'remove', 'prepare', 'reply', 'stop', 'stats', 'wake', 'closeChat',
  'attended', 'attention', 'noise', 'forgetNoise',
]);

// Caches on the server cost it memory; a chat that is taken up again is sent again.
const MAX_SESSIONS = 2;
// A worker of the ends has died, as when the browser runs out of memory, or its files are gone.
const ENDS_LOST = new Set(['ends_failed', 'store_failed', 'weights_size_mismatch']);
// Below this many weights in the head one worker is enough.
const SHARDED_FROM = 4_000_000;
const MAX_SHARDS = 4;

/** Everything of a reply: which server, which model, its opened ends, the chats' sessions. */
export class Engine {
  /**
   * @param {(notice: import('./messages.js').Notice) => void} notify
   * @param {{cores?: number, openStore?: typeof ModelStore.open, openModel?: typeof OpenModel.open,
   *   able?: () => void}} [options] able: throws where this browser cannot run a model
   */
  constructor(notify, options = {}) {
    const { cores = navigator.hardwareConcurrency ?? 2, openStore = ModelStore.open, openModel = OpenModel.open } = options;
    this._notify = notify;
    this._able = options.able ?? (() => {});
    this._cores = cores;
    this._models = new Models(openStore);
    /** @type {Server | null} */
    this._server = null;
    /** @type {Channel | null} */
    this._channel = null;
    /** @type {Uint8Array | null} */
    this._offered = null;
    this._slot = new ModelSlot((digest, event) => this._openStored(openModel, digest, event));
    this._connects = 0;
    /** @type {import('../../types/gatelink.d.ts').AdapterInfo[]} */
    this._adapters = [];
    /** @type {Map<string, ChatSession>} in the order of their last use */
    this._chats = new Map();
    this._download = new Download();
    this._attention = new LatestAttention(notify);
    this._noise = new Noise(notify);
    /** @type {{id: number, chat: string, abort: AbortController, ended: Promise<void>} | null} */
    this._replying = null;
    /** @type {'auto' | 'websocket' | 'http'} */
    this._transport = 'auto';
  }

  /**
   * Of several calls the latest counts; a download that is under way is paused.
   * @param {{url: string, token: string | null, transport?: 'auto' | 'websocket' | 'http'}} where
   * @returns {Promise<Connected>}
   */
  async connect({ url, token, transport = 'auto' }) {
    this._able();
    const turn = ++this._connects;
    const server = new Server(url, token);
    const bytes = await server.manifest();
    const manifest = parseManifest(bytes);
    const adapters = await listAdapters({ url, token });
    if (turn !== this._connects) throw new ConnectSuperseded();
    const next = { _server: server, _offered: bytes, _adapters: adapters, _transport: transport };
    await this._switch(next, manifest.digest);
    const kept = await this._models.kept(manifest.digest);
    const { digest, name, family, licence, maxContext, generation, size, chatTemplate, numLayers } = manifest;
    const own = { hasTemplate: chatTemplate !== null, layers: numLayers };
    return {
      manifest: { digest, name, family, licence, maxContext, generation, size, ...own },
      ...kept,
      adapters,
    };
  }

  /** @param {null} _ @param {(progress: {done: number, total: number}) => void} event */
  async pull(_, event) {
    const { server, offered } = this._connected();
    const { digest, hiddenSize, head } = parseManifest(offered);
    // Files that are gone may still be held open.
    await this._slot.settled(digest);
    if (this._slot.model?.manifest.digest === digest) await this._closeModel();
    const shards = shardCount(head.rows * hiddenSize, this._cores);
    const read = httpReader({ url: server.url, token: server.token });
    try {
      await this._download.run((signal) =>
        this._models.use((store) => store.pull(offered, { read, shards, signal, onProgress: event })),
      );
    } catch (error) {
      throw (await server.changed(digest, error)) ? new WeightsChanged() : error;
    }
  }

  pause() {
    this._download.pause();
  }

  async models() {
    return this._models.use((store) => store.list());
  }

  /** @param {{digest: string}} which */
  async remove({ digest }) {
    await this._slot.settled(digest);
    if (this._slot.model?.manifest.digest === digest) await this._closeModel();
    await this._models.use((store) => store.remove(digest));
  }

  /** @param {null} _ @param {(fraction: number) => void} event */
  async prepare(_, event) {
    const { ends } = await this._prepared(event);
    return { kernel: ends.kernel, workers: ends.workers };
  }

  /** @param {ReplyRequest} request @param {(token: any) => void} event @param {number} id */
  async reply(request, event, id) {
    if (this._replying) throw new ReplyInProgress();
    const abort = new AbortController();
    const made = this._made(request, event, abort.signal);
    this._replying = { id, chat: request.chat, abort, ended: settled(made) };
    try {
      return await made;
    } finally {
      this._replying = null;
    }
  }

  /** @param {ReplyRequest} request @param {(token: any) => void} event @param {AbortSignal} signal */
  async _made(request, event, signal) {
    try {
      const model = await this._prepared(() => {});
      const mode = request.noise ? await this._noise.mode(request.noise, model, signal) : null;
      const chat = await this._chat(request.chat, model, mode);
      return await makeReply(chat, model, this._adapters, request, event, signal, this._attention);
    } catch (error) {
      if (error instanceof AppError && ENDS_LOST.has(error.code)) await this._dropModel();
      throw error;
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
      kernel: this._slot.model?.ends.kernel ?? null,
    };
  }

  /**
   * What the latest reply is made of, if it is this chat's and attention was asked for.
   * @param {{chat: string, from: number}} which spans from this one on
   * @returns {import('./messages.js').Attended | null}
   */
  attended({ chat, from }) {
    return this._attention.of(chat)?.told(from) ?? null;
  }

  /**
   * The row of one of its tokens, or the average of all.
   * @param {{chat: string, token: number | null}} which
   * @returns {Float32Array | null} null: it is not kept
   */
  attention({ chat, token }) {
    return this._attention.of(chat)?.row(token) ?? null;
  }

  /**
   * What noise promises a chat and has cost so far.
   * @param {{chat: string, settings: import('./messages.js').NoiseWish}} which
   * @returns {Promise<import('../noise/mode.js').NoiseStatus>}
   */
  async noise({ chat, settings }) {
    const mode = await this._noise.mode(settings, await this._prepared(() => {}));
    const noised = this._chats.get(chat)?.noised;
    // What is recorded ahead for other noise stays counted as sent.
    return mode.status(chat, noised?.mode === mode ? noised.conversation.ahead : 0);
  }

  /** Ends a chat and deletes the key of its noise. @param {{chat: string}} which */
  async forgetNoise({ chat }) {
    await this.closeChat({ chat });
    await this._noise.forget(chat);
  }

  wake() {
    this._channel?.wake();
  }

  /** Ends the chat's reply, if one is being made. @param {{chat: string}} which */
  async closeChat({ chat }) {
    if (this._replying?.chat === chat) {
      this._replying.abort.abort();
      await this._replying.ended;
    }
    this._attention.forget(chat);
    await this._close(chat);
  }

  /** @param {string} chat */
  async _close(chat) {
    const open = this._chats.get(chat);
    this._chats.delete(chat);
    await open?.close();
  }

  /**
   * The chat's session, which is the newest from now on.
   * @param {string} name @param {OpenModel} model
   * @param {import('../noise/mode.js').NoiseMode | null} mode null: without noise
   */
  async _chat(name, model, mode) {
    // Rows with other noise are other rows: the server's cache is of no use for them.
    if ((this._chats.get(name)?.noised?.mode ?? null) !== mode) await this._close(name);
    const noised = mode && { mode, conversation: await mode.conversation(name) };
    const chat = this._chats.get(name) ?? new ChatSession(model, this._open(), noised);
    this._chats.delete(name);
    this._chats.set(name, chat);
    if (this._chats.size > MAX_SESSIONS) {
      const [oldest] = this._chats.keys();
      await this._close(oldest);
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

  /** The model that is served, opened. @param {(fraction: number) => void} event */
  async _prepared(event) {
    const { offered } = this._connected();
    return this._slot.model ?? this._slot.open(parseManifest(offered).digest, event);
  }

  /** @param {typeof OpenModel.open} open @param {string} digest @param {(fraction: number) => void} event */
  async _openStored(open, digest, event) {
    const stored = await this._models.use((store) => store.find(digest));
    if (stored === null) throw new NotReady('download the model');
    return open(stored, event);
  }

  /**
   * Goes over to another server at once, then leaves the one before; a model with this digest stays open.
   * @param {object} next fields of this engine @param {string} digest
   */
  async _switch(next, digest) {
    if (this._replying) throw new ReplyInProgress();
    this.pause();
    const channel = this._channel;
    Object.assign(this, next, { _channel: null });
    this._attention.forget();
    const letGo = this._slot.keepOnly(digest);
    await this._closeChats();
    channel?.close();
    await letGo;
  }

  async _closeModel() {
    if (this._replying) throw new ReplyInProgress();
    await this._dropModel();
  }

  /** Lets go of the ends, which are opened again when they are needed. */
  async _dropModel() {
    await Promise.all([this._closeChats(), this._slot.drop()]);
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
