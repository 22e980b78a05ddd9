// Adapters that hosts compute on ciphertexts. What talks to a host is loaded when a chat first wants one, and no host
// is asked anything before.
import { choose } from '../../adapters/choice.js';
import { AUTO, placeOf, placedAt } from '../../adapters/place.js';
import { PartMissing } from '../../common/errors.js';
import { aborted } from '../../transport/signals.js';
import { UnknownAdapter } from '../errors.js';

/** @typedef {import('../../../types/gatelink.d.ts').AdapterInfo} AdapterInfo */
/** @typedef {import('../../crypto/hosted.js').HostedAdapters} HostedAdapters */
/** @typedef {import('../../generation/loop.js').Extending} Extending */
/** @typedef {{host: string, token: string | null, hiddenSize: number}} Where */
/**
 * The adapter of one reply: `correcting` is the sequence with it, `end` forgets its keys.
 * @typedef {{name: string, correcting: (sequence: Extending) => Extending, end: () => void}} Applied
 */

// Each holds at most a list, some matrices B and a worker.
const MOST_OPEN = 4;

export class AdapterHosts {
  /** @param {() => Promise<typeof import('./part.js')>} [load] */
  constructor(load = () => import('./part.js')) {
    this._load = load;
    /** Origins that the server names. @type {readonly string[]} */
    this._named = [];
    /** In the order of their last use. @type {Map<string, Promise<HostedAdapters>>} */
    this._open = new Map();
    /** The key of the one that the latest reply is made with. */
    this._using = '';
    this._before = { sent: 0, received: 0 };
    /** @type {Set<HostedAdapters>} */
    this._opened = new Set();
  }

  /**
   * The server names these hosts, and the browser lets requests through to no others.
   * @param {readonly string[]} origins
   */
  name(origins) {
    this._named = origins;
  }

  /** Bytes of bodies sent to hosts and received from them. */
  get traffic() {
    const all = [this._before, ...[...this._opened].map(({ traffic }) => traffic)];
    const sum = (/** @type {'sent' | 'received'} */ way) => all.reduce((bytes, traffic) => bytes + traffic[way], 0);
    return { sent: sum('sent'), received: sum('received') };
  }

  /**
   * The adapters of a host for the model.
   * @param {Where} where @param {AbortSignal} [signal]
   * @returns {Promise<AdapterInfo[]>} rejects with PartMissing and the errors of the room crypto
   */
  async list(where, signal) {
    return (await this._at(where, signal)).hosted.available;
  }

  /**
   * What a reply is made with, agreed on with the host; null: the adapter that is wanted is none of a host, or its host
   * has none for this text.
   * @param {string | null} wanted @param {string} text that 'auto' goes by
   * @param {Pick<Where, 'token' | 'hiddenSize'>} about @param {AbortSignal} signal
   * @returns {Promise<Applied | null>} rejects as `list` does
   */
  async begin(wanted, text, about, signal) {
    const { name, host } = placeOf(wanted);
    if (host === null) return null;
    if (name === null) throw new UnknownAdapter(String(wanted), []);
    const { hosted, key } = await this._at({ host, ...about }, signal);
    const adapter = chosenOf(hosted.available, name, text);
    if (adapter === null) return null;
    this._using = key;
    const reply = await hosted.use(adapter, signal);
    const { correcting } = await this._part();
    return {
      name: placedAt(adapter.name, host),
      correcting: (sequence) => correcting(sequence, reply),
      end: () => reply.end(),
    };
  }

  /** Forgets all keys. */
  close() {
    for (const key of [...this._open.keys()]) this._drop(key);
  }

  /** @param {Where} where @param {AbortSignal} [signal] ends the wait */
  async _at(where, signal) {
    const { AdapterHostNotNamed, HostedAdapters } = await this._part();
    if (!this._named.includes(where.host)) throw new AdapterHostNotNamed(where.host);
    const key = JSON.stringify([where.host, where.token, where.hiddenSize]);
    const opened = this._open.get(key) ?? this._opening(key, () => HostedAdapters.open(where));
    this._open.delete(key);
    this._open.set(key, opened);
    this._leaveOldest();
    const hosted = await (signal ? Promise.race([aborted(signal), opened]) : opened);
    return { hosted, key };
  }

  /** @param {string} key @param {() => Promise<HostedAdapters>} open */
  _opening(key, open) {
    const opened = open();
    opened.then(
      (hosted) => this._opened.add(hosted),
      // What failed may do at the next try.
      () => this._open.get(key) === opened && this._open.delete(key),
    );
    return opened;
  }

  _leaveOldest() {
    const idle = [...this._open.keys()].filter((key) => key !== this._using);
    for (const key of idle.slice(0, Math.max(0, this._open.size - MOST_OPEN))) this._drop(key);
  }

  /** @param {string} key */
  _drop(key) {
    const opened = this._open.get(key);
    this._open.delete(key);
    opened?.then((hosted) => {
      this._opened.delete(hosted);
      this._before.sent += hosted.traffic.sent;
      this._before.received += hosted.traffic.received;
      hosted.close();
    }, () => {});
  }

  _part() {
    return this._load().catch((error) => {
      throw new PartMissing(error);
    });
  }
}

/** @param {AdapterInfo[]} available @param {string} name @param {string} text @throws {UnknownAdapter} */
function chosenOf(available, name, text) {
  if (name === AUTO) return choose(text, available);
  const found = available.find((adapter) => adapter.name === name);
  if (!found) throw new UnknownAdapter(name, available.map((adapter) => adapter.name));
  return found;
}
