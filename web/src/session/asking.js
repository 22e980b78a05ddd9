// One session's messages on their way: asked again while the server is full, told apart from what ends the session.
import { MalformedMessage, WireError, WireModelChanged } from '../protocol/errors.js';
import { ModelChanged, ServerRefused } from '../transport/errors.js';
import { delayOf } from '../transport/patience.js';
import { refusal } from '../transport/refusal.js';
import { after } from '../transport/timer.js';
import { AnswerInvalid, CacheLost } from './errors.js';

/** @typedef {import('../transport/channel.js').Channel} Channel */
/** @typedef {import('../transport/flight.js').Flight} Flight */
/** @typedef {import('../protocol/events.js').Event} Event */

// The server holds another cache than the device believes, or none: a new session repairs it.
const CACHE_LOST = new Set(['unknown_session', 'prefix_mismatch', 'start_beyond_cache', 'step_conflict']);
const MAX_STALE_ANSWERS = 3;
const BUSY_PATIENCE = 60;
// A model is read from a disk, and others may be before it; the server holds each question meanwhile.
const LOADING_PATIENCE = 600;
const LONGEST_PAUSE = 5;
// Of that: a chat ends later than a queue is served.
const PLACE_PATIENCE = 5;

export class Asking {
  /**
   * @param {Channel} channel
   * @param {import('../protocol/client.js').ClientProtocol} protocol
   * @param {object} about
   * @param {import('./waiting.js').Waiting} about.waiting
   * @param {(code: string) => Promise<void>} about.lost the session's cache is lost, for that reason: ends it
   * @param {() => number} about.clock seconds
   * @param {(seconds: number, signal: AbortSignal) => Promise<void>} about.pause
   * @param {number} [about.busyPatience] see RemoteBackend
   */
  constructor(channel, protocol, { waiting, lost, clock, pause, busyPatience = BUSY_PATIENCE }) {
    this._channel = channel;
    this._protocol = protocol;
    this._waiting = waiting;
    this._lost = lost;
    this._clock = clock;
    this._pause = pause;
    this._busyPatience = busyPatience;
    /** Times in a row that the server was too full. */
    this._attempts = 0;
    /** @type {number | null} */
    this._deadline = null;
  }

  /**
   * Sends what `encode` makes; a server that is full is asked again for a while.
   * @param {() => Uint8Array} encode @param {AbortSignal} signal @param {number} [quiet] see Channel.exchange
   * @param {(refused: ServerRefused) => boolean} [elsewhere] whether another one may be asked at once
   * @returns {Promise<Event>}
   */
  async ask(encode, signal, quiet, elsewhere) {
    return this.until((flight) => {
      // A refusal in HTTP's words leaves the frame outstanding; one in a frame wants it made again.
      flight.push(this._protocol.outstanding ?? encode());
      return this.answer(flight);
    }, signal, quiet, elsewhere);
  }

  /**
   * What `run` brings with frames under way; where the server is full it runs again for a while, after what is still
   * unanswered is on its way again.
   * @template T
   * @param {(flight: Flight) => Promise<T>} run @param {AbortSignal} signal @param {number} [quiet]
   * @param {(refused: ServerRefused) => boolean} [elsewhere]
   * @returns {Promise<T>}
   */
  async until(run, signal, quiet, elsewhere = () => false) {
    this._patientAgain();
    for (;;) {
      try {
        const result = await this._channel.flight(run, { signal, quiet });
        this._waiting.over();
        return result;
      } catch (error) {
        if (!(error instanceof ServerRefused)) throw error;
        await this._raiseFinal(error);
        if (elsewhere(error)) continue;
        await this._wait(error, signal);
      }
    }
  }

  /**
   * What the next answer means.
   * @param {Flight} flight
   * @returns {Promise<Event>} no failure, and nothing that is to be ignored
   * @throws {ServerRefused | AnswerInvalid | ModelChanged | import('../common/errors.js').AppError} the latter: the
   *   channel's errors
   */
  async answer(flight) {
    for (let i = 0; i < MAX_STALE_ANSWERS; i++) {
      // Behind the sending: the digests of a long prefill take as long as its way to the server.
      after(0, () => this._protocol.digests());
      const event = this._received(await flight.answer());
      if (event.type === 'failed') {
        // The server has refused the frames behind it, too, and they are made anew.
        flight.drop();
        const { code, message, retryable, retryAfter } = event.failure;
        throw refusal(code, message, retryable, retryAfter);
      }
      if (event.type !== 'ignored') {
        this._patientAgain();
        return event;
      }
      flight.drop();
      const unanswered = this._protocol.unanswered;
      // The session was ended meanwhile.
      if (!unanswered.length) throw new CacheLost();
      for (const frame of unanswered) flight.push(frame);
    }
    throw this.untrue('the answers belong to other requests');
  }

  /** @param {string} reason */
  untrue(reason) {
    this._protocol.forget();
    return new AnswerInvalid(new MalformedMessage(reason));
  }

  _patientAgain() {
    this._attempts = 0;
    this._deadline = null;
  }

  /** @param {Uint8Array} answer */
  _received(answer) {
    try {
      return this._protocol.receive(answer);
    } catch (error) {
      if (!(error instanceof WireError)) throw error;
      this._protocol.forget();
      throw error instanceof WireModelChanged ? new ModelChanged(error) : new AnswerInvalid(error);
    }
  }

  /** @param {ServerRefused} refused */
  async _raiseFinal(refused) {
    if (CACHE_LOST.has(refused.code)) {
      await this._lost(refused.code);
      throw new CacheLost(refused);
    }
    // Whoever holds the memory is somebody's chat, which no patience ends.
    if (refused.retryable && refused.code !== 'model_busy') return;
    if (refused.code === 'internal_error') this._protocol.forget();
    throw refused;
  }

  /** @param {ServerRefused} refused @param {AbortSignal} signal */
  async _wait(refused, signal) {
    const loading = refused.code === 'model_loading';
    const busy = this._busyPatience * (refused.code === 'too_many_sessions' ? PLACE_PATIENCE : 1);
    this._deadline ??= this._clock() + (loading ? LOADING_PATIENCE : busy);
    const wanted = Math.max(refused.retryAfter ?? 0, delayOf(this._channel.patience, this._attempts, 1));
    const delay = loading ? Math.min(wanted, LONGEST_PAUSE) : wanted;
    if (this._clock() + delay > this._deadline) throw refused;
    this._attempts += 1;
    this._waiting.told(refused.code, delay);
    await this._pause(delay, signal);
  }
}
