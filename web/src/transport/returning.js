// The way back to WebSockets for a device that fell to HTTP while nobody answered.
//
// HTTP that works is never lost, so that without this a chat would stay on it for good. A socket is opened beside it
// from time to time, and has to answer a ping before it is taken.
import { encodeMessage } from '../protocol/messages.js';

/** @typedef {import('./transport.js').Transport} Transport */

// Seconds between two attempts, twice as many each time; with the time that one may take they stay below a minute.
export const FIRST = 10;
export const LONGEST = 40;
const PING = encodeMessage({ type: 'ping' });

export class Returning {
  /**
   * @param {import('./transport.js').Connect} connect
   * @param {number} timeout seconds of a handshake, and of a ping
   * @param {() => number} clock seconds
   */
  constructor(connect, timeout, clock) {
    this._connect = connect;
    this._timeout = timeout;
    this._clock = clock;
    this._delay = FIRST;
    /** @type {number | null} */
    this._due = null;
    /** @type {AbortController | null} */
    this._attempt = null;
    /** @type {Transport | null} */
    this._ready = null;
  }

  /** A WebSocket that has answered; null: there is none yet. Asked before each frame that goes over HTTP. */
  socket() {
    const ready = this._ready;
    this._ready = null;
    if (ready?.open) return ready;
    if (this._attempt === null) {
      this._due ??= this._clock() + this._delay;
      if (this._clock() >= this._due) void this._begin();
    }
    return null;
  }

  /** A WebSocket carries frames. */
  worked() {
    this._delay = FIRST;
    this._due = null;
  }

  /** An attempt that is under way is given up, and the next one waits for its time. */
  close() {
    this._attempt?.abort();
    this._attempt = null;
    this._ready?.close();
    this._ready = null;
    this._due = null;
  }

  async _begin() {
    const attempt = new AbortController();
    this._attempt = attempt;
    const transport = await this._answering(attempt.signal);
    if (this._attempt !== attempt) return transport?.close();
    this._attempt = null;
    this._ready = transport;
    this._delay = Math.min(2 * this._delay, LONGEST);
    this._due = this._clock() + this._delay;
  }

  /**
   * A proxy may let a handshake through and nothing after it.
   * @param {AbortSignal} signal @returns {Promise<Transport | null>}
   */
  async _answering(signal) {
    const how = { timeout: this._timeout, signal };
    /** @type {Transport | null} */
    let transport = null;
    try {
      transport = await this._connect('websocket', how);
      await transport.exchange(PING, how);
      return transport;
    } catch {
      transport?.close();
      return null;
    }
  }
}
