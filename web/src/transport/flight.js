// Frames of one caller that are under way at the same time, and their answers, which come in the same order.

/** @typedef {import('./transport.js').Transport} Transport */

export class Flight {
  /**
   * @param {() => Transport | null} transport the connection there is
   * @param {(flight: Flight) => Promise<Uint8Array>} deliver
   */
  constructor(transport, deliver) {
    this._transport = transport;
    this._deliver = deliver;
    /** @type {Uint8Array[]} */
    this._frames = [];
    /** So many of them went over `_over`. */
    this._sent = 0;
    /** @type {Transport | null} */
    this._over = null;
  }

  /** Frames that await their answers, the oldest first. */
  get unanswered() {
    return this._frames;
  }

  /**
   * Sends `frame`, at once if there is a connection that carries several.
   * @param {Uint8Array} frame the very same bytes are sent again if need be; leave them alone meanwhile
   */
  push(frame) {
    this._frames.push(frame);
    const transport = this._transport();
    // What goes wrong with a connection shows where its next answer is awaited.
    if (transport?.open) this._flush(transport);
  }

  /** The answer to the oldest frame. Throws as Channel.exchange. @returns {Promise<Uint8Array>} */
  answer() {
    return this._deliver(this);
  }

  /** Nobody waits for the answers any more. */
  drop() {
    if (this._sent) this._over?.forgo?.(this._sent);
    this._frames = [];
    this._sent = 0;
  }

  /**
   * Carries what has no answer yet over `transport`, and returns the next answer.
   * @param {Transport} transport @param {{timeout: number, signal: AbortSignal}} options
   */
  async carry(transport, options) {
    this._flush(transport);
    const [frame] = this._frames;
    const answer = await (transport.receive?.(options) ?? transport.exchange(frame, options));
    this._frames.shift();
    if (transport.receive) this._sent -= 1;
    return answer;
  }

  /** @param {Transport} transport */
  _flush(transport) {
    if (transport !== this._over) this._sent = 0;
    this._over = transport;
    if (!transport.send) return;
    while (this._sent < this._frames.length) {
      transport.send(this._frames[this._sent]);
      this._sent += 1;
    }
  }
}
