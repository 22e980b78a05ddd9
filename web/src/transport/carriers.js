// The kind of connection that carries the next frame: the one choice that a browser leaves open.
//
// A browser does not say why a WebSocket failed: no network, no such path, an authority that it
// does not trust for secure sockets (some phones), or a refused token. HTTP tells them apart.
import { ConnectionLost, NotASplitServer, UpgradeRefused } from './errors.js';
import { Returning } from './returning.js';

/** @typedef {import('./transport.js').Transport} Transport */
/** @typedef {'auto' | 'websocket' | 'http'} Mode */

// A WebSocket that opens and then loses every frame is as good as none.
const FRUITLESS_SOCKETS = 2;
// Once may be a network that came back between the two.
const REFUSALS = 2;
// Ray Serve's balancer makes one of 502, 503 and 504.
const STATUS_OF_A_PROXY = 500;

/** Opens connections and remembers which kind is worth trying. */
export class Carriers {
  /**
   * @param {Mode} mode
   * @param {import('./transport.js').Connect} connect
   * @param {import('./patience.js').Patience} patience
   * @param {() => number} clock seconds
   */
  constructor(mode, connect, patience, clock) {
    this._mode = mode;
    this._connect = connect;
    this._patience = patience;
    this._fruitless = 0;
    this._refused = false;
    this._refusals = 0;
    this._everSocket = false;
    /** Whether the server has proven itself, over whatever connection. */
    this._everAnswered = false;
    this._returning = new Returning(connect, patience.upgrade, clock);
  }

  /**
   * @param {AbortSignal} signal
   * @returns {Promise<Transport>}
   */
  open(signal) {
    if (this._mode === 'http') return this._http(signal);
    if (this._mode === 'websocket') return this._socketOrReason(signal);
    if (this._refusals >= REFUSALS || this._fruitless >= FRUITLESS_SOCKETS) return this._http(signal);
    return this._socketOrHttp(signal);
  }

  /**
   * A WebSocket in place of `transport`, where sockets have worked before and one does again; it is not waited for.
   * @param {Transport} transport
   */
  back(transport) {
    const fell = this._mode === 'auto' && this._everSocket && transport.name === 'http';
    return fell ? this._returning.socket() : null;
  }

  /**
   * What an error means: a page of something in between is a loss, once the server has proven itself.
   * @param {unknown} error
   */
  meaning(error) {
    const page = error instanceof NotASplitServer && error.status === STATUS_OF_A_PROXY;
    if (!page || !this._everAnswered) return error;
    return new ConnectionLost(`HTTP status ${error.status} from something in between`, error);
  }

  /** Nothing that is opened beside the present connection is wanted any more. */
  close() {
    this._returning.close();
  }

  /** `transport` has delivered an answer. @param {Transport} transport */
  delivered(transport) {
    this._fruitless = 0;
    this._everAnswered = true;
    if (transport.name === 'websocket') {
      this._everSocket = true;
      this._returning.worked();
    }
    // Sockets that never open while HTTP delivers will not open later: no more waiting for them.
    else if (this._refused && !this._everSocket) this._refusals += 1;
    this._refused = false;
  }

  /**
   * `transport` was lost; `proven`: after it had delivered.
   * @param {Transport} transport @param {boolean} proven
   */
  lost(transport, proven) {
    this._fruitless = transport.name === 'websocket' && !proven ? this._fruitless + 1 : 0;
  }

  /** @param {AbortSignal} signal */
  _http(signal) {
    return this._connect('http', { timeout: this._patience.connect, signal });
  }

  /** @param {AbortSignal} signal */
  async _socketOrHttp(signal) {
    try {
      return await this._connect('websocket', { timeout: this._patience.upgrade, signal });
    } catch (error) {
      if (!(error instanceof UpgradeRefused)) throw error;
      this._refused = true;
      return this._http(signal);
    }
  }

  /** @param {AbortSignal} signal */
  async _socketOrReason(signal) {
    try {
      return await this._connect('websocket', { timeout: this._patience.connect, signal });
    } catch (error) {
      if (!(error instanceof UpgradeRefused)) throw error;
      (await this._http(signal)).close();
      throw error;
    }
  }
}
