// A channel that keeps working: it connects, falls back, reconnects and sends frames again.
//
// Sending a frame twice is safe because a session answers the same bytes once, however often they
// arrive. One caller at a time has frames under way.
import { frameLimit } from '../protocol/limits.js';
import { encodeMessage } from '../protocol/messages.js';
import { Carriers } from './carriers.js';
import { connector } from './connect.js';
import { Endurance } from './endurance.js';
import { AnswerLate, ConnectionLost, DeviceRevoked, Undelivered } from './errors.js';
import { Flight } from './flight.js';
import { Losses } from './losses.js';
import { PATIENCE, delayOf, quietFor } from './patience.js';
import { NEVER, linked } from './signals.js';
import { pause as realPause } from './timer.js';
import { Turns } from './turns.js';
import { Wakeable, Woken } from './wakeable.js';

/** @typedef {import('../../types/gatelink.js').Traffic} Traffic */
/** @typedef {import('./transport.js').Transport} Transport */
/** @typedef {import('./patience.js').Patience} Patience */
/** @typedef {import('./losses.js').ChannelNotice} ChannelNotice */

const PING = encodeMessage({ type: 'ping' });
// Far above what the delays allow within any sensible total; a bound for clocks that stand still.
const MAX_ATTEMPTS = 10_000;
// Seconds: no attempt to connect takes longer.
const CONNECTING = 30;

/** One channel to one server, over whichever connection works. */
export class Channel {
  /**
   * @param {object} options
   * @param {string} options.url the server's
   * @param {string | null} options.token
   * @param {import('./carriers.js').Mode} [options.mode]
   * @param {Partial<Patience>} [options.patience]
   * @param {import('./routing.js').Route | null} [options.route] what a balancer is told; null: nothing
   * @param {import('./transport.js').Connect} [options.connect]
   * @param {() => number} [options.clock] seconds, running on while the device sleeps
   * @param {(seconds: number, signal: AbortSignal) => Promise<void>} [options.pause]
   * @param {() => number} [options.chance] 0 to 1
   * @param {(notice: ChannelNotice) => void} [options.onNotice]
   */
  constructor({ url, token, mode = 'auto', patience, route = null, connect, clock, pause, chance, onNotice }) {
    /** @type {Patience} */
    this.patience = { ...PATIENCE, ...patience };
    this._longest = frameLimit(0, 0);
    const opening = connect ?? connector(url, token, this._longest, route);
    this.route = route;
    this._clock = clock ?? (() => Date.now() / 1000);
    this._carriers = new Carriers(mode, opening, this.patience, this._clock);
    this._pause = pause ?? realPause;
    this._chance = chance ?? Math.random;
    this._notify = onNotice ?? (() => {});
    this._losses = new Losses(this._notify, this._clock);
    this._turns = new Turns();
    /** @type {Transport | null} */
    this._transport = null;
    this._proven = false;
    /** Connections that there were. */
    this.connections = 0;
    this._closing = new AbortController();
    this._wakeable = new Wakeable(this._clock, this._pause);
    this._endurance = new Endurance(this.patience.total, this._clock);
    /** @type {Traffic} bytes of frames, and round trips */
    this.traffic = { sent: 0, received: 0, exchanges: 0 };
  }

  /** Connections that came about again, not attempts. */
  get reconnects() {
    return this._losses.repaired;
  }

  /** What carries frames at present. @returns {'websocket' | 'http' | null} */
  get transportName() {
    return this._transport?.name ?? null;
  }

  /** Whether several frames may be under way at present. */
  get several() {
    return this.connected && this._transport?.send !== undefined;
  }

  /** Whether there is a connection, as far as is known. */
  get connected() {
    return this._transport?.open ?? false;
  }

  /**
   * Sends `frame`, again if need be, and returns the answer.
   * @param {Uint8Array} frame the very same bytes are sent each time; leave them alone meanwhile
   * @param {{signal?: AbortSignal, quiet?: number}} [options] quiet: seconds for which the server may be silent
   *   in any case
   * @returns {Promise<Uint8Array>}
   * @throws {import('../common/errors.js').AppError} cancelled at once; server_unreachable,
   *   connection_lost or upgrade_refused after `patience.total`; what the server refuses at once:
   *   unauthorized, device_revoked and every other code of docs/protocol.md
   */
  async exchange(frame, options) {
    return this.flight((flight) => {
      flight.push(frame);
      return flight.answer();
    }, options);
  }

  /**
   * Runs `run` with frames of its own: several of them may be under way at a time. Those that have no answer when a
   * connection is lost are sent again in the same order.
   * @template T
   * @param {(flight: Flight) => Promise<T>} run
   * @param {{signal?: AbortSignal, quiet?: number}} [options] as of `exchange`
   * @returns {Promise<T>}
   * @throws {import('../common/errors.js').AppError} as `exchange`, where an answer is awaited
   */
  async flight(run, { signal = NEVER, quiet = 0 } = {}) {
    const stop = linked([signal, this._closing.signal]);
    const flight = new Flight(() => this._transport, (each) => this._deliver(each, stop.signal, quiet));
    try {
      return await this._turns.during(stop.signal, () => run(flight));
    } finally {
      flight.drop();
      stop.release();
    }
  }

  /** Whether the server's owner has taken this device's access away over it. */
  get revoked() {
    return this._transport?.end instanceof DeviceRevoked;
  }

  /**
   * Goes another way with what comes next.
   * @param {import('./routing.js').Holder} holder
   * @returns {boolean} whether that was done: not where others have a session at the end of this one
   */
  move(holder) {
    if (!this.route?.isFree(holder)) return false;
    this.reroute(null);
    return true;
  }

  /**
   * Connections that are made from here on have another routing id. A server at another end knows none of the
   * sessions.
   * @param {string | null} id null: any
   */
  reroute(id) {
    if (this.route === null) return;
    this.route.change(id);
    this._drop(false);
  }

  /** Tells whoever shows the connection. @param {ChannelNotice} notice */
  tell(notice) {
    this._notify(notice);
  }

  /**
   * Lets answers have `maxFrame` bytes where that is more than agreed before.
   * @param {number} maxFrame
   */
  accept(maxFrame) {
    this._longest = Math.max(this._longest, maxFrame);
    this._transport?.accept(this._longest);
  }

  /**
   * Makes the connection before it is needed, unless it is in use; what is wrong with it shows when it is needed.
   */
  async warm() {
    const { signal } = this._closing;
    if (this.connected || this._turns.taken || signal.aborted) return;
    try {
      await this._turns.during(signal, () => this._wakeable.run(false, signal, (stop) => this._connected(stop)));
    } catch {
      // Whoever needs it tries again.
    }
  }

  /**
   * Sends a frame whose answer nobody waits for over the connection there is, if any.
   * @param {Uint8Array} frame
   * @param {number} timeout seconds that it may take where it needs an exchange of its own
   * @returns {Promise<void>} once it is on its way
   */
  async farewell(frame, timeout) {
    await this._ifTurn(async () => {
      const transport = this._transport;
      if (!transport?.open) return;
      if (!transport.send) return void transport.exchange(frame, { timeout, signal: NEVER }).catch(() => {});
      transport.send(frame);
      transport.forgo?.(1);
    });
  }

  /** Asks the connection there is, if any, for a sign of life. @param {number} timeout seconds */
  async _askForLife(timeout) {
    await this._ifTurn((signal) => this._exchangeOnce(PING, timeout, signal));
  }

  /** @param {(signal: AbortSignal) => Promise<void>} run */
  async _ifTurn(run) {
    const { signal } = this._closing;
    if (this._transport === null || signal.aborted) return;
    try {
      await this._turns.during(signal, () => run(signal));
    } catch {
      // No turn came: the channel was closed, or is busy with what matters more.
    }
  }

  /** @param {Uint8Array} frame @param {number} timeout @param {AbortSignal} signal */
  async _exchangeOnce(frame, timeout, signal) {
    try {
      await this._transport?.exchange(frame, { timeout, signal });
    } catch {
      this._drop();
    }
  }

  /**
   * The device woke up, the network came back or the page is visible: a wait ends at once, patience
   * begins anew, and a connection that may have died meanwhile is replaced (with an answer
   * outstanding) or asked for a sign of life (without).
   */
  wake() {
    this._endurance.renew();
    if (!this._wakeable.wake()) void this._probe();
  }

  /** Ends what is under way and closes the connection, for good. */
  close() {
    this._closing.abort();
    this._drop(false);
  }

  /** @param {Flight} flight @param {AbortSignal} signal @param {number} least seconds of silence */
  async _deliver(flight, signal, least) {
    this._endurance.renew();
    let quiet = Math.max(least, quietFor(this.patience, flight.unanswered[0].length));
    const latest = this._clock() + this.patience.exchange;
    for (let attempt = 0; attempt < MAX_ATTEMPTS; ) {
      const began = this._clock();
      try {
        return await this._try(flight, quiet, signal);
      } catch (refusal) {
        const error = this._carriers.meaning(refusal);
        // The answer of an interrupted exchange must not be taken for the next one's.
        this._drop(error instanceof Undelivered);
        if (error instanceof Woken) continue;
        if (error instanceof AnswerLate && this._clock() < latest) {
          quiet *= 2;
          continue;
        }
        if (!(error instanceof Undelivered)) throw error;
        if (error instanceof ConnectionLost) this._losses.lost();
        if (!(error instanceof ConnectionLost)) this._endurance.slept(began, CONNECTING);
        attempt = (await this._wait(error, attempt, began, signal)) ? attempt + 1 : 0;
      }
    }
    throw new ConnectionLost('too many attempts');
  }

  /** @param {Flight} flight @param {number} timeout @param {AbortSignal} signal */
  async _try(flight, timeout, signal) {
    const [frame] = flight.unanswered;
    const answer = await this._wakeable.run(false, signal, async (stop) => {
      const transport = await this._connected(stop);
      return flight.carry(transport, { timeout, signal: stop });
    });
    this.traffic.sent += frame.length;
    this.traffic.received += answer.length;
    this.traffic.exchanges += 1;
    this._delivered();
    return answer;
  }

  /** @param {AbortSignal} signal */
  async _connected(signal) {
    if (this._transport?.end instanceof DeviceRevoked) return this._transport;
    const better = this._transport?.open ? this._carriers.back(this._transport) : null;
    if (this._transport?.open && better === null) return this._transport;
    // One that was closed while it idled is nobody's loss.
    this._transport?.close();
    this._transport = null;
    const transport = better ?? (await this._carriers.open(signal));
    transport.accept(this._longest);
    this._transport = transport;
    this.connections += 1;
    this._proven = false;
    return transport;
  }

  _delivered() {
    if (this._transport) this._carriers.delivered(this._transport);
    this._proven = true;
    this._losses.delivered();
  }

  /** @param {boolean} [lost] whether that is the connection's own fault */
  _drop(lost = true) {
    if (this._transport && lost) this._carriers.lost(this._transport, this._proven);
    this._carriers.close();
    this._transport?.close();
    this._transport = null;
  }

  /**
   * @param {Undelivered} error @param {number} attempt @param {number} began by the clock
   * @param {AbortSignal} signal
   * @returns {Promise<boolean>} false: woken up
   */
  async _wait(error, attempt, began, signal) {
    const delay = delayOf(this.patience, attempt, this._chance());
    if (!this._endurance.allows(delay)) throw error;
    const now = this._clock();
    this._losses.waits({ reason: error.reason, attempt, delay }, began);
    try {
      await this._wakeable.run(true, signal, (stop) => this._pause(delay, stop));
      return !this._endurance.slept(now, delay);
    } catch (interruption) {
      if (interruption instanceof Woken) return false;
      throw interruption;
    }
  }

  /** Whether an idle connection still answers; one that does not is closed. */
  async _probe() {
    if (this._transport?.name === 'websocket' && !this._turns.taken) {
      await this._askForLife(this.patience.probe);
    }
  }
}
