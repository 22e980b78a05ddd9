import { AppError } from '../common/errors.js';
import { Channel } from '../transport/channel.js';
import { parseManifest } from '../weights/manifest.js';
import { ModelStore } from '../weights/store.js';
import { AdapterHosts } from './adapters/hosts.js';
import { LatestAttention } from './attention/latest.js';
import { Connection } from './connection.js';
import { Download, shardCount } from './download.js';
import { WeightsChanged } from './errors.js';
import { OpenModel } from './models/model.js';
import { ServedModel } from './models/served.js';
import { Models } from './models/store.js';
import { Looking } from './looking.js';
import { Noise } from './noise.js';
import { Drafting } from './chat/drafting.js';
import { forgetChat } from './chat/forgotten.js';
import { OneReply } from './chat/one_reply.js';
import { OpenChats } from './chat/open_chats.js';
import { makeReply } from './chat/reply.js';
import { Answers } from './steering/answers.js';
import { manifestTold, statsTold } from './reports.js';

/** @typedef {import('./messages.js').ReplyRequest} ReplyRequest */
/** @typedef {import('./messages.js').Connected} Connected */

/** The methods that a page may call. */
export const METHODS = /** @type {const} */ ([
  'connect', 'pull', 'pause', 'models', 'remove', 'prepare', 'reply', 'stop', 'stats', 'wake', 'closeChat',
  'keptAttention', 'seen', 'noise', 'forgetNoise', 'forgetChat', 'expect', 'count', 'propose', 'tokens', 'alternatives',
  'hostedAdapters', 'reroute',
]);

// A worker of the ends has died, as when the browser runs out of memory, or its files are gone.
const ENDS_LOST = new Set(['ends_failed', 'store_failed', 'weights_size_mismatch']);

/** What a few models need before they are here. */
const blocks = () => import('../weights/download/blocks.js');

/** Everything of a reply: which server, which model, its opened ends, the chats' sessions. */
export class Engine {
  /**
   * @param {(notice: import('./messages.js').Notice) => void} notify
   * @param {{cores?: number, openStore?: typeof ModelStore.open, openModel?: typeof OpenModel.open,
   *   able?: () => void, makeChannel?: (options: ConstructorParameters<typeof Channel>[0]) => Channel}} [options]
   *   able: throws where this browser cannot run a model
   */
  constructor(notify, options = {}) {
    const { cores = navigator.hardwareConcurrency ?? 2, openStore = ModelStore.open, openModel = OpenModel.open } = options;
    this._notify = notify;
    this._able = options.able ?? (() => {});
    this._cores = cores;
    this._models = new Models(openStore);
    const makeChannel = options.makeChannel ?? ((about) => new Channel(about));
    this._connection = new Connection((about) => makeChannel({ ...about, onNotice: notify }), {
      hold: () => {
        this._reply.requireNone();
        this.pause();
      },
      leave: (digest, end) => this._leave(digest, end),
    });
    const offered = () => this._connected().offered;
    this._served = new ServedModel({ models: this._models, open: openModel, offered, notify });
    this._chats = new OpenChats();
    this._download = new Download();
    this._attention = new LatestAttention(notify);
    this._drafting = new Drafting();
    this._answers = new Answers();
    this._noise = new Noise(notify);
    this._hosts = new AdapterHosts();
    this._reply = new OneReply();
    this._looking = new Looking({
      attention: this._attention,
      answers: this._answers,
      chats: this._chats,
      served: this._served,
      around: () => this._around(),
    });
  }

  /**
   * Of several calls the latest counts; a download that is under way is paused. Where it is the same server with
   * the same model the chats keep their sessions: after a connection that was away nothing is sent anew.
   * @param {{url: string, token: string | null, transport?: 'auto' | 'websocket' | 'http',
   *   cacheSalt?: string | null, routing?: string | null}} where cacheSalt: what the server keeps is found only by who
   *   sends the same; routing: the routing id of this browser
   * @returns {Promise<Connected>}
   */
  async connect({ url, token, transport = 'auto', cacheSalt = null, routing = null }) {
    this._able();
    const { server, manifest, adapters, hosts } = await this._connection.connect({
      url, token, transport, cacheSalt, routing,
    });
    this._hosts.name(hosts);
    const kept = await this._models.kept(manifest.digest);
    const { packed } = server;
    const comes = packed && !kept.stored ? (await blocks()).travelling(manifest, packed, kept.doneBytes) : null;
    return { manifest: manifestTold(manifest), comes: manifest.size, ...kept, ...comes, adapters, hosts };
  }

  /** @param {null} _ @param {(progress: import('../weights/download/pull.js').Progress) => void} event */
  async pull(_, event) {
    const { server, offered } = this._connected();
    const manifest = parseManifest(offered);
    const { digest, hiddenSize, head } = manifest;
    const { packed } = server;
    // Files that are gone may still be held open.
    await this._letGo(digest);
    const options = {
      read: server.weights,
      forms: packed ? (await blocks()).formsOf(manifest, packed) : undefined,
      shards: shardCount(head.rows * hiddenSize, this._cores),
      onProgress: event,
    };
    try {
      await this._download.run((signal) => this._models.use((store) => store.pull(offered, { ...options, signal })));
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
    await this._letGo(digest);
    await this._models.use((store) => store.remove(digest));
  }

  /** @param {null} _ @param {(fraction: number) => void} event */
  async prepare(_, event) {
    const { ends } = await this._served.prepared(event);
    return { kernel: ends.kernel, workers: ends.workers };
  }

  /** @param {ReplyRequest} request @param {(token: any) => void} event @param {number} id */
  async reply(request, event, id) {
    return this._reply.run(id, request.chat, (signal) => this._made(request, event, signal));
  }

  /** @param {ReplyRequest} request @param {(token: any) => void} event @param {AbortSignal} signal */
  async _made(request, event, signal) {
    try {
      const model = await this._served.prepared(() => {});
      const mode = request.noise ? await this._noise.mode(request.noise, model, signal) : null;
      const keeping = { cache: request.cache, cacheSalt: this._connection.cacheSalt };
      const chat = await this._chats.take(request.chat, model, () => this._open(), mode, keeping);
      await chat.settled(signal);
      return await makeReply(chat, model, this._connection.adapters, request, event, signal, {
        attention: this._attention,
        drafting: this._drafting,
        answers: this._answers,
        hosts: this._hosts,
      });
    } catch (error) {
      if (error instanceof AppError && ENDS_LOST.has(error.code)) await this._dropModel();
      throw error;
    }
  }

  /** @param {{reply: number}} which */
  stop({ reply }) {
    this._reply.stop(reply);
  }

  /** @returns {Promise<import('./messages.js').Stats>} */
  async stats() {
    return { ...statsTold(this._connection.channel, this._chats.newest, this._served.model), hosts: this._hosts.traffic };
  }

  /**
   * The adapters for the model that a host computes on ciphertexts.
   * @param {{host: string, token: string | null}} where host: an origin that the server names
   */
  async hostedAdapters({ host, token }) {
    const { hiddenSize } = parseManifest(this._connected().offered);
    return this._hosts.list({ host, token, hiddenSize });
  }

  /** @param {Parameters<Looking['kept']>[0]} which @returns {any} null: it is not kept */
  keptAttention(which) {
    return this._looking.kept(which);
  }

  /**
   * What somebody asks who looks at the tokens of a chat.
   * @param {import('./attention/seen.js').Asked} asked @returns {Promise<any>}
   */
  async seen(asked) {
    await this._served.prepared(() => {});
    if (asked.ask === 'heads') this._reply.requireNone();
    return this._looking.seen(asked);
  }

  _around() {
    const keeping = { cacheSalt: this._connection.cacheSalt };
    return { chats: this._chats, model: this._served.model, channel: () => this._open(), keeping };
  }

  /** @param {Parameters<Looking['tokens']>[0]} which */
  async tokens(which) {
    return this._looking.tokens(which);
  }

  /** @param {Parameters<Looking['alternatives']>[0]} which */
  async alternatives(which) {
    return this._looking.alternatives(which);
  }

  /**
   * What noise promises a chat and has cost so far.
   * @param {{chat: string, settings: import('./messages.js').NoiseWish}} which
   * @returns {Promise<import('../noise/mode.js').NoiseStatus>}
   */
  async noise({ chat, settings }) {
    const mode = await this._noise.mode(settings, await this._served.prepared(() => {}));
    const noised = this._chats.get(chat)?.noised;
    // What is recorded ahead for other noise stays counted as sent.
    return mode.status(chat, () => (noised?.mode === mode ? noised.conversation.ahead : 0));
  }

  /** Ends a chat and deletes the key of its noise. @param {{chat: string}} which */
  async forgetNoise({ chat }) {
    await this.closeChat({ chat });
    await this._noise.forget(chat);
  }

  /**
   * Has the server delete what it keeps of a chat; the chat can go on.
   * @param {{chat: string, said: import('./messages.js').Message[][]}} which the chat up to each of its replies,
   *   of all branches
   */
  async forgetChat(which) {
    this._connected();
    await this._reply.end(which.chat);
    this._drafting.forget();
    const keeping = { cacheSalt: this._connection.cacheSalt };
    return forgetChat(this._chats, which, this._served.model, () => this._open(), keeping);
  }

  /**
   * A message is being written to this chat, which has no noise: its session is opened meanwhile, unless it had one.
   * @param {{chat: string, cache?: 'exact' | 'int8' | 'off'}} which
   */
  async expect({ chat, cache }) {
    const { model } = this._served;
    if (model === null || this._connection.server === null || this._reply.running || this._chats.get(chat)) return;
    const keeping = { cache, cacheSalt: this._connection.cacheSalt };
    await (await this._chats.take(chat, model, () => this._open(), null, keeping)).expect();
  }

  /** @param {Parameters<Looking['count']>[0]} which */
  async count(which) {
    return this._looking.count(which);
  }

  /** @param {Parameters<Looking['propose']>[0]} which */
  async propose(which) {
    return this._looking.propose(which);
  }

  /** Connections have another routing id from here on. @param {{routing: string}} which */
  async reroute({ routing }) {
    this._connection.reroute(routing);
  }

  wake() {
    this._connection.channel?.wake();
  }

  /**
   * Ends the chat's reply, if one is being made; no draft goes by what was said in it.
   * @param {{chat: string}} which
   */
  async closeChat({ chat }) {
    await this._reply.end(chat);
    this._drafting.forget();
    this._attention.forget(chat);
    this._answers.forget(chat);
    await this._chats.close(chat);
  }

  /** The connection, made again where there is none. */
  _open() {
    return this._connection.open();
  }

  _connected() {
    return this._connection.required();
  }

  /**
   * Leaves the server before, but for a model with this digest.
   * @param {string} digest @param {() => void} end closes the connection to it
   */
  async _leave(digest, end) {
    this._drafting.forget();
    this._hosts.close();
    if (this._served.model?.manifest.digest !== digest) this._answers.clear();
    const letGo = this._served.keepOnly(digest);
    await this._chats.closeAll();
    end();
    await letGo;
  }

  /** Closes this model if it is open or being opened. @param {string} digest */
  async _letGo(digest) {
    await this._served.settled(digest);
    if (this._served.model?.manifest.digest !== digest) return;
    this._reply.requireNone();
    await this._dropModel();
  }

  /** Lets go of the ends, which are opened again when they are needed. */
  async _dropModel() {
    this._answers.clear();
    await Promise.all([this._chats.closeAll(), this._served.drop()]);
  }
}
