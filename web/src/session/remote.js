// A session on a split server, as the decode loop's backend.
import { ClientProtocol } from '../protocol/client.js';
import { MalformedMessage, ProtocolStateError, WireError, WireModelChanged } from '../protocol/errors.js';
import { DEFAULT_MAX_ROWS, frameLimit } from '../protocol/limits.js';
import { ModelChanged, ServerRefused } from '../transport/errors.js';
import { delayOf } from '../transport/patience.js';
import { refusal } from '../transport/refusal.js';
import { NEVER } from '../transport/signals.js';
import { after, pause as realPause } from '../transport/timer.js';
import { AnswerInvalid, CacheLost } from './errors.js';

/** @typedef {import('../../types/gatelink.js').DType} DType */
/** @typedef {import('../transport/channel.js').Channel} Channel */
/** @typedef {import('../protocol/client.js').Event} Event */
/**
 * `hidden`: the final-norm state of the last row, float32 [H]. Times in microseconds;
 * `exchangeUs` is the whole wait for the server, compute and queue included. `attention`: what the last
 * row attends to, float32 [layers, positions], where it was asked for.
 * @typedef {{hidden: Float32Array, computeUs: number, queueUs: number, exchangeUs: number,
 *   attention?: Float32Array | null}} StepOutput
 */

// The server holds another cache than the device believes, or none: a new session repairs it.
const CACHE_LOST = new Set(['unknown_session', 'prefix_mismatch', 'start_beyond_cache', 'step_conflict']);
const MAX_STALE_ANSWERS = 3;
const BUSY_PATIENCE = 60;
const CLOSE_WITHIN = 2;

/** One session at a time over a channel. */
export class RemoteBackend {
  /**
   * @param {Channel} channel
   * @param {object} options
   * @param {string} options.manifest digest of the manifest whose ends the device holds
   * @param {number} options.hiddenSize
   * @param {DType | null} [options.dtype] null: the server's own
   * @param {number} [options.maxContext] positions that the model was made for
   * @param {number} [options.busyPatience] seconds to wait for a server that is full
   * @param {() => number} [options.clock] seconds
   * @param {(seconds: number, signal: AbortSignal) => Promise<void>} [options.pause]
   */
  constructor(channel, { manifest, hiddenSize, dtype = null, maxContext, busyPatience, clock, pause }) {
    this._channel = channel;
    this._protocol = new ClientProtocol(hiddenSize, manifest, dtype);
    this._manifestContext = maxContext ?? Infinity;
    this._busyPatience = busyPatience ?? BUSY_PATIENCE;
    this._clock = clock ?? (() => performance.now() / 1000);
    this._pause = pause ?? realPause;
    this._waited = 0;
    this.sessionsOpened = 0;
    channel.accept(frameLimit(hiddenSize, DEFAULT_MAX_ROWS));
  }

  /** Rows that one step may carry; valid once it is open. */
  get maxRows() {
    return Math.min(this._opened().maxRows, DEFAULT_MAX_ROWS);
  }

  /** Positions that the session may hold; valid once it is open. */
  get maxContext() {
    return Math.min(this._opened().maxContext, this._manifestContext);
  }

  /** What hidden states travel in; valid once it is open, null before. @returns {DType} */
  get dtype() {
    return /** @type {DType} */ (this._protocol.opened?.dtype ?? null);
  }

  /** What the server announced; empty before the session is open. */
  get capabilities() {
    return this._protocol.opened?.capabilities ?? [];
  }

  /** Whether an answer can come at present, as far as is known. */
  get reachable() {
    return this._channel.connected;
  }

  /** Whether a step was interrupted: `open` will finish it, or begin a new session. */
  get unfinished() {
    return this._protocol.stepping;
  }

  /** Positions that the server holds as far as is known. */
  get cached() {
    return this._protocol.cached;
  }

  /**
   * Opens a session unless there is one. A step that was interrupted is finished first: its bytes are
   * sent again, so that it is known what the server holds.
   * @param {{signal?: AbortSignal}} [options]
   * @throws {import('../common/errors.js').AppError} server's refusals, model_changed, answer_invalid,
   *   cancelled, and the channel's errors
   */
  async open({ signal = NEVER } = {}) {
    if (this._protocol.outstanding !== null) await this._finish(signal);
    if (this._protocol.opened !== null) return;
    await this._ask(() => this._protocol.open(), signal);
    this.sessionsOpened += 1;
  }

  /**
   * Appends rows after `start` cached positions.
   * @param {number} start
   * @param {Float32Array} embeddings n * H
   * @param {{adapter?: string | null, attention?: boolean, signal?: AbortSignal}} [options] the name of
   *   an adapter that the server applies to what it returns; whether attention is wanted (see `attend`)
   * @returns {Promise<StepOutput>}
   * @throws {CacheLost} afterwards a step with start 0 may follow at once
   * @throws {import('../common/errors.js').AppError} as `open`
   */
  async step(start, embeddings, { adapter = null, attention = false, signal = NEVER } = {}) {
    await this.open({ signal });
    if (start > this._protocol.cached) throw new CacheLost();
    this._waited = 0;
    const encode = () => this._protocol.step(start, embeddings, { adapter, attention });
    const event = await this._ask(encode, signal);
    if (event.type !== 'completed') throw this._untrue('the answer to a step is not its result');
    const { hidden, computeUs, queueUs } = event;
    const exchangeUs = Math.round(1e6 * this._waited);
    return { hidden, computeUs, queueUs, exchangeUs, attention: event.attention };
  }

  /**
   * Makes room for answers with the attention over `positions`; valid once it is open.
   * @param {number} positions
   * @throws {import('../common/errors.js').AppError} unsupported, attention_too_large; nothing was sent
   */
  attend(positions) {
    this._channel.accept(this._protocol.attentionRoom(positions));
  }

  /** Ends the session as far as the server can be reached. */
  async close() {
    const frame = this._protocol.close();
    if (frame !== null) await this._channel.sendOnce(frame, CLOSE_WITHIN);
  }

  _opened() {
    if (this._protocol.opened === null) throw new ProtocolStateError('the session is not open');
    return this._protocol.opened;
  }

  /** @param {AbortSignal} signal */
  async _finish(signal) {
    const { outstanding, stepping } = this._protocol;
    if (outstanding === null || !stepping) return this._protocol.forget();
    try {
      await this._exchange(outstanding, signal);
    } catch (error) {
      if (!(error instanceof ServerRefused || error instanceof AnswerInvalid)) throw error;
      // A new session is the way on; what else is wrong with the server shows there.
      await this.close();
    }
  }

  /**
   * Sends what `encode` makes; a server that is full is asked again for a while.
   * @param {() => Uint8Array} encode @param {AbortSignal} signal
   * @returns {Promise<Event>}
   */
  async _ask(encode, signal) {
    let deadline = null;
    for (let attempt = 0; ; attempt++) {
      try {
        // A refusal in HTTP's words leaves the frame outstanding; one in a frame wants it made again.
        return await this._exchange(this._protocol.outstanding ?? encode(), signal);
      } catch (error) {
        if (!(error instanceof ServerRefused)) throw error;
        await this._raiseFinal(error);
        deadline ??= this._clock() + this._busyPatience;
        await this._wait(error, attempt, deadline, signal);
      }
    }
  }

  /** @param {Uint8Array} frame @param {AbortSignal} signal @returns {Promise<Event>} */
  async _exchange(frame, signal) {
    for (let i = 0; i < MAX_STALE_ANSWERS; i++) {
      // Behind the sending: the digests of a long prefill take as long as its way to the server.
      after(0, () => this._protocol.digests());
      const answer = await this._timed(() => this._channel.exchange(frame, { signal }));
      const event = this._received(answer);
      if (event.type === 'failed') {
        const { code, message, retryable, retryAfter } = event.failure;
        throw refusal(code, message, retryable, retryAfter);
      }
      if (event.type !== 'ignored') return event;
    }
    throw this._untrue('the answers belong to other requests');
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

  /** @param {string} reason */
  _untrue(reason) {
    this._protocol.forget();
    return new AnswerInvalid(new MalformedMessage(reason));
  }

  /** @param {ServerRefused} refused */
  async _raiseFinal(refused) {
    if (CACHE_LOST.has(refused.code)) {
      // What the server may still hold would count against its limits until it expires.
      await this.close();
      throw new CacheLost(refused);
    }
    if (refused.retryable) return;
    if (refused.code === 'internal_error') this._protocol.forget();
    throw refused;
  }

  /**
   * @param {ServerRefused} refused @param {number} attempt @param {number} deadline
   * @param {AbortSignal} signal
   */
  async _wait(refused, attempt, deadline, signal) {
    const delay = Math.max(refused.retryAfter ?? 0, delayOf(this._channel.patience, attempt, 1));
    if (this._clock() + delay > deadline) throw refused;
    await this._timed(() => this._pause(delay, signal));
  }

  /**
   * @template T
   * @param {() => Promise<T>} run
   */
  async _timed(run) {
    const began = this._clock();
    try {
      return await run();
    } finally {
      this._waited += this._clock() - began;
    }
  }
}
