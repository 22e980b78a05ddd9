// A backend and a sequence over a real channel, whose connections reach a peer or lose frames.
import { RemoteBackend } from '../../src/session/remote.js';
import { Sequence } from '../../src/session/sequence.js';
import { Channel } from '../../src/transport/channel.js';
import { ConnectionLost } from '../../src/transport/errors.js';
import { MANIFEST, Peer, WIDTH, rowsOf } from './peer.js';

/**
 * What happens to a frame. `before`: lost on its way there; `after`: its answer is lost; `late`: it arrives when its
 * connection is gone; a function changes the answer.
 * @typedef {'works' | 'before' | 'after' | 'late' | ((answer: Uint8Array, frame: Uint8Array) => Uint8Array)} Fate
 */

export class Rig {
  /** @param {{dtype?: any, maxContext?: number, busyPatience?: number, later?: any, cache?: any,
   *   cacheSalt?: string, usualDtype?: any, peer?: Peer, nameable?: boolean, several?: boolean,
   *   route?: import('../../src/transport/routing.js').Route | null}} [options] */
  constructor({ peer = new Peer(), nameable = false, several = true, route = null, ...options } = {}) {
    this.peer = peer;
    this.several = several;
    /** The most frames that were under way at a time. */
    this.most = 0;
    this.now = 0;
    /** @type {number[]} */
    this.waits = [];
    /** How long each frame may have no answer. @type {number[]} */
    this.timeouts = [];
    /** @type {() => Fate} */
    this.fate = () => 'works';
    /** Called with each frame once it is on its way. @type {(frame: Uint8Array) => void} */
    this.onSent = () => {};
    /** Frames of lost connections that are still to arrive. @type {Uint8Array[]} */
    this.late = [];
    this.lateComes = () => false;
    const pause = async (/** @type {number} */ seconds) => {
      this.waits.push(seconds);
      this.now += seconds;
    };
    const clock = () => this.now;
    /** The routing id of each connection that was made. @type {(string | undefined)[]} */
    this.went = [];
    const connect = async () => {
      this.went.push(route?.id);
      return this._transport();
    };
    /** What was told of the connection and the server. @type {any[]} */
    this.told = [];
    this.channel = new Channel({
      url: 'http://peer', token: null, route, clock, pause, chance: () => 1, connect,
      onNotice: (notice) => this.told.push(notice),
    });
    const later = () => () => {};
    const about = { manifest: MANIFEST, hiddenSize: WIDTH, clock, pause, chance: () => 1, later, ...options };
    this.backend = new RemoteBackend(this.channel, about);
    /** Which rows were made. @type {[number, number][]} */
    this.made = [];
    const rows = async (/** @type {number[]} */ tokens, /** @type {number} */ start, /** @type {number} */ stop) => {
      this.made.push([start, stop]);
      return rowsOf(tokens.slice(start, stop));
    };
    this.sequence = new Sequence(this.backend, rows, { nameable });
  }

  /** @returns {any} */
  _transport() {
    return this.several ? new SeveralAtOnce(this) : this._oneAtATime();
  }

  _oneAtATime() {
    const transport = {
      name: 'http',
      open: true,
      end: null,
      accept: () => {},
      close: () => (transport.open = false),
      exchange: (/** @type {Uint8Array} */ frame, /** @type {any} */ { signal, timeout }) => {
        this.timeouts.push(timeout);
        return this.carry(frame, this.fate(), signal);
      },
    };
    return transport;
  }

  /** @param {Uint8Array} frame @param {Fate} fate @param {AbortSignal} [signal] */
  async carry(frame, fate, signal) {
    if (fate === 'before') throw new ConnectionLost('lost there');
    if (fate === 'late') {
      this.late.push(frame);
      throw new ConnectionLost('late');
    }
    while (this.late.length && this.lateComes()) this.peer.answer(/** @type {Uint8Array} */ (this.late.shift()));
    const answer = this.peer.answer(frame);
    this.onSent(frame);
    await Promise.resolve();
    if (signal?.aborted) throw new Error('aborted');
    if (fate === 'after') throw new ConnectionLost('lost back');
    return typeof fate === 'function' ? fate(answer, frame) : answer;
  }

  /** @param {number[]} tokens @param {AbortSignal} [signal] */
  async extend(tokens, signal) {
    return (await this.sequence.extend(tokens, { signal })).hidden;
  }
}

/** A connection on which several frames may be under way; what is lost once is lost for all behind it. */
class SeveralAtOnce {
  /** @param {Rig} rig */
  constructor(rig) {
    this._rig = rig;
    this.name = 'websocket';
    this.open = true;
    /** @type {Error | null} */
    this.end = null;
    /** @type {Promise<Uint8Array>[]} */
    this._answers = [];
    /** How it broke. @type {Fate} */
    this._broke = 'works';
  }

  accept() {}

  close() {
    this.open = false;
  }

  /** @param {Uint8Array} frame */
  send(frame) {
    const fate = this._rig.fate();
    if (this._broke === 'works' || fate === 'before') this._broke = typeof fate === 'function' ? 'works' : fate;
    const answer = this._rig.carry(frame, this._broke === 'works' ? fate : this._broke);
    answer.catch(() => {});
    this._answers.push(answer);
    this._rig.most = Math.max(this._rig.most, this._answers.length);
  }

  /** @param {{signal: AbortSignal, timeout: number}} options */
  async receive({ signal, timeout }) {
    this._rig.timeouts.push(timeout);
    const answer = await this._answers[0];
    if (signal.aborted) throw new Error('aborted');
    this._answers.shift();
    return answer;
  }

  /** @param {number} count */
  forgo(count) {
    this._answers.splice(0, count);
  }

  /** @param {Uint8Array} frame @param {any} options */
  async exchange(frame, options) {
    this.send(frame);
    return this.receive(options);
  }
}
