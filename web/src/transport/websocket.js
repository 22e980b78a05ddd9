// Frames over a WebSocket (RFC 6455) as browsers have them: no ping of its own, no headers, and a
// refused handshake says nothing but that it failed.
import { SUBPROTOCOL } from '../protocol/messages.js';
import { credentialProtocols } from './bearer.js';
import { AnswerLate, Cancelled, ConnectionLost, ServerRefused, UpgradeRefused } from './errors.js';
import { closeError } from './refusal.js';
import { routed } from './routing.js';
import { after as realAfter } from './timer.js';
import { baseUrl } from './transport.js';

const PATH = '/api/v1/split/stream';
const OPEN = 1;
// Timeouts that a frame may take to leave while some of it leaves in each.
const MOST_LOOKS = 10;

/** @typedef {(url: string, protocols: string[]) => WebSocket} MakeSocket */
/** @typedef {{resolve: (frame: Uint8Array) => void, reject: (error: Error) => void}} Waiting */

/** @typedef {import('./transport.js').Transport} Transport */

/** @implements {Transport} */
export class WebSocketTransport {
  /**
   * Connects with the subprotocol split.v1.
   * @param {object} options
   * @param {string} options.url the server's, http or https
   * @param {string | null} options.token
   * @param {number} options.maxFrame bytes of the longest answer that is accepted
   * @param {number} options.timeout seconds
   * @param {AbortSignal} options.signal
   * @param {import('./routing.js').Route | null} [options.route]
   * @param {MakeSocket} [options.make]
   * @param {import('./timer.js').After} [options.after]
   * @returns {Promise<WebSocketTransport>}
   * @throws {UpgradeRefused | Cancelled | import('./errors.js').TokenInvalid}
   */
  static async open({ url, token, maxFrame, timeout, signal, route = null, make = newSocket, after = realAfter }) {
    if (signal.aborted) throw new Cancelled();
    const address = routed(baseUrl(url).replace(/^http/, 'ws') + PATH, route);
    const socket = started(make, address, [SUBPROTOCOL, ...credentialProtocols(token)]);
    const transport = new WebSocketTransport(socket, maxFrame, after);
    try {
      await transport._opened(timeout, signal);
    } catch (error) {
      transport.close();
      throw error;
    }
    return transport;
  }

  /**
   * Use `open`.
   * @param {WebSocket} socket @param {number} maxFrame @param {import('./timer.js').After} after
   */
  constructor(socket, maxFrame, after) {
    this._socket = socket;
    this._maxFrame = maxFrame;
    this._after = after;
    /** @type {Waiting | null} */
    this._waiting = null;
    /** Frames that have no answer yet. */
    this._unanswered = 0;
    /** Of the next answers, so many are nobody's. */
    this._forgone = 0;
    /** Answers that came before anybody waited for them. @type {Uint8Array[]} */
    this._early = [];
    /** @type {Error | null} */
    this.end = null;
    /** @type {'websocket'} */
    this.name = 'websocket';
    socket.binaryType = 'arraybuffer';
    socket.onmessage = (event) => this._received(event.data);
    socket.onclose = (event) => this._ended(closeError(event.code, event.reason));
  }

  get open() {
    return this.end === null && this._socket.readyState === OPEN;
  }

  /** @param {number} maxFrame */
  accept(maxFrame) {
    this._maxFrame = maxFrame;
  }

  close() {
    this._ended(new ConnectionLost('closed'));
    const socket = this._socket;
    socket.onmessage = socket.onclose = socket.onopen = socket.onerror = null;
    socket.close(1000);
  }

  /**
   * @param {Uint8Array} frame
   * @param {{timeout: number, signal: AbortSignal}} options
   * @returns {Promise<Uint8Array>}
   */
  async exchange(frame, options) {
    if (options.signal.aborted) throw new Cancelled();
    this.send(frame);
    return this.receive(options);
  }

  /** @param {Uint8Array} frame */
  send(frame) {
    if (this.end !== null) throw this.end;
    this._socket.send(/** @type {Uint8Array<ArrayBuffer>} */ (frame));
    this._unanswered += 1;
  }

  /** @param {{timeout: number, signal: AbortSignal}} options @returns {Promise<Uint8Array>} */
  async receive({ timeout, signal }) {
    const early = this._early.shift();
    if (early) return early;
    if (this.end !== null) throw this.end;
    return this._within(timeout, signal, new AnswerLate(), () => {});
  }

  /** @param {number} answers of the frames that were sent last */
  forgo(answers) {
    this._forgone += answers - this._early.splice(0, answers).length;
  }

  /** @param {number} timeout @param {AbortSignal} signal */
  async _opened(timeout, signal) {
    try {
      await this._within(timeout, signal, new AnswerLate(), () => {
        this._socket.onopen = () => this._waiting?.resolve(new Uint8Array(0));
        this._socket.onerror = () => this._ended(new ConnectionLost('the handshake failed'));
      });
    } catch (error) {
      if (error instanceof ConnectionLost) throw new UpgradeRefused(error.reason);
      throw error;
    }
    // From now on a close event follows and says more.
    this._socket.onerror = null;
    if (this._socket.protocol !== SUBPROTOCOL) {
      throw new UpgradeRefused(`the server does not speak ${SUBPROTOCOL}`);
    }
  }

  /**
   * Waits for what the socket brings after `start`.
   * @param {number} timeout @param {AbortSignal} signal @param {Error} late @param {() => void} start
   * @returns {Promise<Uint8Array>}
   */
  async _within(timeout, signal, late, start) {
    /** @type {() => void} */
    let cancel = () => {};
    let callOff = () => {};
    try {
      return await new Promise((resolve, reject) => {
        if (signal.aborted) return reject(new Cancelled());
        this._waiting = { resolve, reject };
        cancel = () => reject(new Cancelled());
        signal.addEventListener('abort', cancel, { once: true });
        callOff = this._watch(timeout, () => reject(late));
        start();
      });
    } finally {
      this._waiting = null;
      signal.removeEventListener('abort', cancel);
      callOff();
    }
  }

  /**
   * Calls `silent` once `timeout` seconds went by in which nothing was sent either: a long prefill
   * over a slow uplink takes its time.
   * @param {number} timeout @param {() => void} silent
   */
  _watch(timeout, silent) {
    let callOff = () => {};
    let before = Infinity;
    let looks = 0;
    const look = () => {
      const left = this._socket.bufferedAmount;
      looks += 1;
      if (left === 0 || left >= before || looks === MOST_LOOKS) return silent();
      before = left;
      callOff = this._after(timeout, look);
    };
    callOff = this._after(timeout, look);
    return () => callOff();
  }

  /** @param {unknown} data */
  _received(data) {
    if (!(data instanceof ArrayBuffer)) {
      this._fail(new ConnectionLost('text where a frame belongs'));
    } else if (data.byteLength > this._maxFrame) {
      this._fail(new ServerRefused('answer_too_large', "the server's answer is longer than agreed"));
    } else {
      this._answered(new Uint8Array(data));
    }
  }

  /** @param {Uint8Array} answer */
  _answered(answer) {
    // Nobody waits for an answer that comes unasked.
    if (this._unanswered === 0) return;
    this._unanswered -= 1;
    if (this._forgone) {
      this._forgone -= 1;
      return;
    }
    // The next one may come before whoever waits for this one has gone on.
    const waiting = this._waiting;
    this._waiting = null;
    if (waiting) waiting.resolve(answer);
    else this._early.push(answer);
  }

  /** @param {Error} error */
  _fail(error) {
    this._ended(error);
    this.close();
  }

  /** @param {Error} error */
  _ended(error) {
    this.end ??= error;
    this._waiting?.reject(this.end);
  }
}

/** @type {MakeSocket} */
function newSocket(url, protocols) {
  return new WebSocket(url, protocols);
}

/** @param {MakeSocket} make @param {string} url @param {string[]} protocols */
function started(make, url, protocols) {
  try {
    return make(url, protocols);
  } catch {
    // A policy or a missing implementation; the constructor throws nothing that names the network.
    throw new UpgradeRefused('this browser refuses to open one');
  }
}
