// Which server the engine talks to, over which connection, and what is offered there.
import { listAdapters } from '../adapters/listing.js';
import { Route } from '../transport/routing.js';
import { parseManifest } from '../weights/manifest.js';
import { ConnectSuperseded, NotReady } from './errors.js';
import { Server } from './server.js';

/** @typedef {import('../transport/channel.js').Channel} Channel */
/** @typedef {'auto' | 'websocket' | 'http'} Mode */
/** @typedef {import('../../types/gatelink.d.ts').AdapterInfo} AdapterInfo */
/** @typedef {{server: Server, manifest: ReturnType<typeof parseManifest>, adapters: AdapterInfo[],
 *   hosts: string[]}} Reached */

export class Connection {
  /**
   * @param {(options: {url: string, token: string | null, mode: Mode, route: Route | null}) => Channel} makeChannel
   * @param {object} about
   * @param {() => void} about.hold throws where nothing may change at present; pauses what is under way
   * @param {(digest: string, end: () => void) => Promise<void>} about.leave the server before is left for one with the
   *   model of this digest; `end` closes the connection to it
   */
  constructor(makeChannel, about) {
    this._makeChannel = makeChannel;
    this._about = about;
    this._turn = 0;
    this.server = /** @type {Server | null} */ (null);
    this.channel = /** @type {Channel | null} */ (null);
    /** The manifest's bytes. */
    this.offered = /** @type {Uint8Array | null} */ (null);
    /** @type {AdapterInfo[]} */
    this.adapters = [];
    /** @type {Mode} */
    this._transport = 'auto';
    /** @type {string | null} */
    this.cacheSalt = null;
    /** By which way frames go; null: whoever balances is told nothing. @type {Route | null} */
    this._route = null;
    /** What that began with. @type {string | null} */
    this._routing = null;
  }

  /** Frames go another way from here on. @param {string} routing id */
  reroute(routing) {
    this._routing = routing;
    this._route?.change(routing);
    this.channel?.reroute(routing);
  }

  /**
   * Of several calls the latest counts.
   * @param {{url: string, token: string | null, transport: Mode, cacheSalt: string | null, routing: string | null}} where
   * @returns {Promise<Reached>}
   * @throws {import('../common/errors.js').AppError}
   */
  async connect({ url, token, transport, cacheSalt, routing }) {
    const turn = ++this._turn;
    // As long as this is the same, frames go by the way that they have come to.
    if (routing !== this._routing) this._route = routing === null ? null : new Route(routing);
    this._routing = routing;
    const server = new Server(url, token);
    // Its handshake runs while the manifest is fetched and the ends are opened.
    const early = (this._reaches(server, transport) && this.channel) || this._channelTo(server, transport);
    void early.warm();
    try {
      return await this._connectTo(server, { turn, transport, cacheSalt, early });
    } finally {
      if (early !== this.channel) early.close();
    }
  }

  /** The connection, made again where there is none. @throws {NotReady} */
  open() {
    const { server } = this.required();
    this.channel ??= this._channelTo(server, this._transport);
    return this.channel;
  }

  /** @throws {NotReady} */
  required() {
    if (this.server === null || this.offered === null) throw new NotReady('connect to a server');
    return { server: this.server, offered: this.offered };
  }

  /**
   * @param {Server} server
   * @param {{turn: number, transport: Mode, cacheSalt: string | null,
   *   early: Channel}} options early: on its way to that server
   * @returns {Promise<Reached>}
   */
  async _connectTo(server, { turn, transport, cacheSalt, early }) {
    const { url, token } = server;
    const listed = listAdapters({ url, token });
    // What is wrong with the manifest is told first.
    listed.catch(() => {});
    const bytes = await server.manifest();
    const manifest = parseManifest(bytes);
    const { adapters, hosts } = await listed;
    if (turn !== this._turn) throw new ConnectSuperseded();
    const offered = { offered: bytes, adapters, cacheSalt };
    if (this._isSame(server, manifest.digest, transport)) {
      this._about.hold();
      Object.assign(this, { ...offered, channel: this.channel ?? early });
    } else {
      const channel = early === this.channel ? null : early;
      await this._switch({ server, ...offered, _transport: transport, channel }, manifest.digest);
    }
    return { server, manifest, adapters, hosts };
  }

  /** @param {Server} server @param {Mode} mode */
  _channelTo({ url, token }, mode) {
    return this._makeChannel({ url, token, mode, route: this._route });
  }

  /** Whether what is open goes on. @param {Server} server @param {string} digest @param {string} transport */
  _isSame(server, digest, transport) {
    return this.offered !== null && this._reaches(server, transport) && parseManifest(this.offered).digest === digest;
  }

  /** Whether frames go to this server already. @param {Server} server @param {string} transport */
  _reaches({ url, token }, transport) {
    if (this.server === null || this.channel?.revoked) return false;
    return this.server.url === url && this.server.token === token && this._transport === transport;
  }

  /**
   * Goes over to another server at once, then leaves the one before; a model with this digest stays open.
   * @param {object} next fields of this connection @param {string} digest
   */
  async _switch(next, digest) {
    this._about.hold();
    const { channel } = this;
    Object.assign(this, next);
    await this._about.leave(digest, () => channel?.close());
  }
}
