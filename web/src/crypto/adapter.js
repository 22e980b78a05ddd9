// One encrypted adapter on the device: h + scale * B (A h), where the host computes A h.
import { aborted } from '../transport/signals.js';
import { after as realAfter } from '../transport/timer.js';
import { AdapterHostInvalid } from './errors.js';
import { AdaptedReply } from './reply.js';
import { HostSession } from './session.js';

/** @typedef {import('./link.js').HostLink} HostLink */
/** @typedef {import('./layout.js').Packing} Packing */
/** @typedef {import('../../types/gatelink.d.ts').AdapterInfo} AdapterInfo */

/** Largest magnitude in scale * B; those of adapters that were trained are around 1. */
export const MAX_SCALED_B = 2 ** 20;
// As long as keys under way are waited for: a host that is slow with them gets a new request.
const SECONDS_AHEAD = 2;
// More than what replies ask for while a host answers nothing.
const MOST_ENDED = 16;

/**
 * B is fetched once and kept; every reply has keys of its own, because a dishonest host sees of each reply when it ended,
 * which tells of its keys. Those of the next reply are made, and agreed on with the host, while this one goes on.
 *
 * The first packing is kept for good: a host that could state another bound on the norm for each new session would find
 * the norm of a state by which of them it is refused under.
 */
export class HostedAdapter {
  /**
   * @param {HostLink} link @param {import('./keyring.js').Keyring} keyring @param {AdapterInfo} about
   * @param {{after?: import('../transport/timer.js').After}} [means]
   */
  constructor(link, keyring, about, { after = realAfter } = {}) {
    this._link = link;
    this._keyring = keyring;
    this.about = about;
    this._after = after;
    this._leaving = new AbortController();
    /** @type {Float64Array | null} */
    this._scaledB = null;
    /** @type {Packing | null} */
    this._agreed = null;
    /** @type {Promise<HostSession> | null} */
    this._next = null;
    /** @type {((signal: AbortSignal) => Promise<void>)[]} */
    this._ended = [];
  }

  /**
   * What corrects the states of one reply, under keys that no other reply had or will have.
   * @param {AbortSignal} [signal]
   * @returns {Promise<AdaptedReply>} rejects with the errors of this room, and Cancelled
   */
  async reply(signal) {
    const scaledB = await this._b(signal);
    const reply = new AdaptedReply(this, scaledB, await this._madeAhead(signal));
    await reply.prepare(signal);
    return reply;
  }

  /** A session with new keys, now. @param {AbortSignal} [signal] */
  async open(signal) {
    const session = await HostSession.open(this._link, this._keyring, this.about, { agreed: this._agreed, signal });
    this._agreed ??= session.packing;
    return session;
  }

  /** Has the next reply's keys made and agreed on, unless that is done or under way. */
  prepareNext() {
    if (this._next) return;
    this._next = this.open(this._leaving.signal);
    // Making them when they are needed says what is the matter.
    this._next.catch(() => {});
    this._tellEnded();
  }

  /**
   * Has the host told, with what is asked next, that a session is not needed any more.
   * @param {HostSession} session
   */
  end(session) {
    if (this._ended.length < MOST_ENDED) this._ended.push(session.ending());
  }

  /** Forgets the keys that were made for the next reply, which is another adapter's. */
  rest() {
    this._giveUpNext();
    this._tellEnded();
  }

  /** Forgets them; what is asked of the host ends soon. */
  close() {
    this.rest();
    this._after(SECONDS_AHEAD, () => this._leaving.abort());
  }

  _tellEnded() {
    const ended = this._ended;
    this._ended = [];
    // One that is not told ends by itself.
    for (const tell of ended) tell(this._leaving.signal).catch(() => {});
  }

  /** @param {AbortSignal} [signal] @returns {Promise<HostSession | null>} null: one has to be made now */
  async _madeAhead(signal) {
    const next = this._next;
    if (next === null) return null;
    let callOff = () => {};
    const late = new Promise((resolve) => (callOff = this._after(SECONDS_AHEAD, () => resolve(null))));
    const made = next.catch(() => null);
    try {
      const session = await Promise.race([made, late, ...(signal ? [aborted(signal)] : [])]);
      if (session === null) this._giveUpNext();
      else this._next = null;
      return session;
    } finally {
      callOff();
    }
  }

  _giveUpNext() {
    const next = this._next;
    this._next = null;
    const dropped = (/** @type {HostSession} */ session) => {
      session.forget();
      return session.ending()(this._leaving.signal);
    };
    // One that is not told ends by itself.
    next?.then(dropped).catch(() => {});
  }

  /** scale * B [H, r]. @param {AbortSignal} [signal] */
  async _b(signal) {
    this._scaledB ??= scaledBOf(await this._fetchedB(signal), this.about);
    return this._scaledB;
  }

  /** @param {AbortSignal} [signal] */
  async _fetchedB(signal) {
    const size = 4 * this.about.hiddenSize * this.about.rank;
    const bytes = await this._link.ask('GET', `/${this.about.name}/b`, size, { signal });
    if (bytes.length !== size) throw new AdapterHostInvalid(`B has ${bytes.length} bytes where ${size} are needed`);
    return bytes;
  }
}

/** @param {Uint8Array} bytes float32, little endian @param {AdapterInfo} about @throws {AdapterHostInvalid} */
function scaledBOf(bytes, { scale }) {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const scaled = Float64Array.from({ length: bytes.length / 4 }, (_, i) => scale * view.getFloat32(4 * i, true));
  // NaN fails the comparison.
  if (!scaled.every((value) => Math.abs(value) <= MAX_SCALED_B)) {
    throw new AdapterHostInvalid(`scale * B has values beyond ${MAX_SCALED_B}, or that are no numbers`);
  }
  return scaled;
}
