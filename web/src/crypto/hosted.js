// Adapters of a host that computes on ciphertexts; the model's server is told nothing of them.
import { parseListing } from '../adapters/listing.js';
import { HostedAdapter } from './adapter.js';
import { AdapterHostInvalid } from './errors.js';
import { Keyring } from './keyring.js';
import { HostLink } from './link.js';

/** @typedef {import('../../types/gatelink.d.ts').AdapterInfo} AdapterInfo */

const MAX_LISTING = 8 << 20;

export class HostedAdapters {
  /**
   * @param {HostLink} link @param {Keyring} keyring @param {AdapterInfo[]} available
   * @param {import('./link.js').Means} [means]
   */
  constructor(link, keyring, available, means) {
    this._means = means;
    this._link = link;
    this._keyring = keyring;
    /** In the host's order; those for another hidden size than the model's are left out. */
    this.available = available;
    /** @type {Map<string, HostedAdapter>} */
    this._adapters = new Map();
    /** @type {import('./reply.js').AdaptedReply | null} */
    this._latest = null;
  }

  /**
   * Asks a host for its list.
   * @param {{host: string, token: string | null, hiddenSize: number}} where `host`: its origin
   * @param {{signal?: AbortSignal, keyring?: Keyring, means?: import('./link.js').Means}} [options]
   * @throws {import('../common/errors.js').AppError} the errors of this room, adapter_list_invalid
   */
  static async open({ host, token, hiddenSize }, { signal, keyring = new Keyring(), means } = {}) {
    const link = new HostLink(host, token, means);
    const offered = parseListing(await link.ask('GET', '', MAX_LISTING, { signal }));
    if (!offered.every(({ encrypted }) => encrypted)) {
      throw new AdapterHostInvalid('it offers adapters in the clear, so it is no adapter host');
    }
    return new HostedAdapters(link, keyring, offered.filter((about) => about.hiddenSize === hiddenSize), means);
  }

  /** Bytes of bodies sent to the host and received from it. */
  get traffic() {
    return this._link.traffic;
  }

  /**
   * What corrects the states of one reply. The keys of the one before are forgotten.
   * @param {AdapterInfo} about one of those that are available @param {AbortSignal} [signal]
   * @returns {Promise<import('./reply.js').AdaptedReply>} rejects with the errors of this room, and Cancelled
   */
  async use(about, signal) {
    this._latest?.end();
    this._latest = null;
    const adapter = this._adapters.get(about.name) ?? new HostedAdapter(this._link, this._keyring, about, this._means);
    for (const other of this._adapters.values()) if (other !== adapter) other.rest();
    this._adapters.set(about.name, adapter);
    this._latest = await adapter.reply(signal);
    return this._latest;
  }

  /** Forgets all keys. */
  close() {
    this._latest?.end();
    this._latest = null;
    for (const adapter of this._adapters.values()) adapter.close();
    this._adapters.clear();
    this._keyring.close();
  }
}
