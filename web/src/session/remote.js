// A session on a split server, as the decode loop's backend.
import { ClientProtocol } from '../protocol/client.js';
import { ProtocolStateError, WireError } from '../protocol/errors.js';
import { DEFAULT_MAX_ROWS, frameLimit } from '../protocol/limits.js';
import { decodeServerMessage } from '../protocol/parsing.js';
import { ServerRefused } from '../transport/errors.js';
import { NEVER } from '../transport/signals.js';
import { after, pause as realPause } from '../transport/timer.js';
import { Asking } from './asking.js';
import { AnswerInvalid, CacheLost } from './errors.js';
import { Losses } from './losses.js';
import { Moving } from './moving.js';
import { named } from './naming.js';
import { Prefill } from './prefill.js';
import { Waiting } from './waiting.js';
import { Window } from './window.js';

/** @typedef {import('../../types/gatelink.js').DType} DType */
/** @typedef {import('../transport/channel.js').Channel} Channel */
/** @typedef {import('../protocol/events.js').Event} Event */
/** @typedef {import('./backend.js').Rows} Rows */
/** @typedef {import('./backend.js').StepOutput} StepOutput */
/** @typedef {import('../protocol/attention.js').Wanted} Wanted */

// Seconds: a server keeps a newcomer waiting in silence, and its place in the queue goes with its connection.
const OPENING_QUIET = 30;
const CLOSE_WITHIN = 2;

/** One session at a time over a channel. */
export class RemoteBackend {
  /**
   * @param {Channel} channel
   * @param {object} options
   * @param {string} options.manifest digest of the manifest whose ends the device holds
   * @param {number} options.hiddenSize
   * @param {DType | null} [options.dtype] null: the server's own
   * @param {DType | null} [options.usualDtype] what the server is likely to choose
   * @param {string | null} [options.cacheSalt] see docs/protocol.md, `open`
   * @param {'exact' | 'int8' | 'off'} [options.cache]
   * @param {number} [options.maxContext] positions that the model was made for
   * @param {number} [options.busyPatience] seconds to wait for a server that is full, and five times as long
   *   for one whose sessions are all in use
   * @param {() => number} [options.clock] seconds
   * @param {(seconds: number, signal: AbortSignal) => Promise<void>} [options.pause]
   * @param {() => number} [options.chance] 0 to 1
   * @param {import('../transport/timer.js').After} [options.later]
   */
  constructor(channel, {
    manifest, hiddenSize, dtype = null, usualDtype = dtype, cacheSalt, cache, maxContext, busyPatience, clock, pause, chance,
    later,
  }) {
    this._channel = channel;
    this._hiddenSize = hiddenSize;
    this._protocol = new ClientProtocol(hiddenSize, manifest, dtype, { cacheSalt, cache });
    /** That of the session before, in which the next one's rows are named. */
    this._usualDtype = usualDtype;
    /** @type {Rows | null} what was asked for with the opening */
    this._asked = null;
    this._manifestContext = maxContext ?? Infinity;
    this._clock = clock ?? (() => performance.now() / 1000);
    const waits = pause ?? realPause;
    this._losses = new Losses(channel.patience, { clock: this._clock, pause: waits, chance: chance ?? Math.random });
    this._waiting = new Waiting((notice) => channel.tell(notice), later ?? after);
    this._asking = new Asking(channel, this._protocol, {
      waiting: this._waiting, lost: (code) => this._gone(code), clock: this._clock, pause: waits, busyPatience,
    });
    this._window = new Window();
    this.sessionsOpened = 0;
    channel.accept(frameLimit(hiddenSize, 1));
    channel.route?.carries(this._protocol);
  }

  /** Rows that one step may carry; valid once it is open. */
  get maxRows() {
    return Math.min(this._opened().maxRows, DEFAULT_MAX_ROWS);
  }

  /** Positions that the session may hold; valid once it is open. */
  get maxContext() {
    return Math.min(this._opened().maxContext, this._manifestContext);
  }

  /** Rows with which a step still is interactive; valid once it is open. */
  get interactiveRows() {
    return Math.min(this._opened().interactiveRows, this.maxRows);
  }

  /** Whether the open session returns the states of any number of a step's last rows, or else of one or of all. */
  get returnsRows() {
    return this._protocol.countsRows;
  }

  /** What hidden states travel in; valid once it is open, null before. @returns {DType} */
  get dtype() {
    return /** @type {DType} */ (this._protocol.opened?.dtype ?? null);
  }

  /** All that the server announced; null before the session is open. */
  get announced() {
    return this._protocol.opened;
  }

  /** What it can do; empty before the session is open. */
  get capabilities() {
    return this._protocol.opened?.capabilities ?? [];
  }

  /** Whether an answer can come at present, as far as is known. */
  get reachable() {
    return this._channel.connected;
  }

  /** Steps that were broken off: `open` will send them again first. */
  get unfinished() {
    return this._protocol.stepping;
  }

  /** Positions that the server holds as far as is known. */
  get cached() {
    return this._protocol.cached;
  }

  /**
   * Opens a session unless there is one. Steps that were broken off are sent again first, so that it is known
   * what the server holds: it answers the same bytes once, and from memory when it has answered them before.
   * @param {{signal?: AbortSignal, wanted?: Rows | null}} [options] wanted: what a new one may begin with, as far as
   *   the server holds it; see `held`
   * @returns {Promise<number | null>} how many of those steps went through; null: there were none, or their session is
   *   lost
   * @throws {import('../common/errors.js').AppError} server's refusals, model_changed, answer_invalid,
   *   cancelled, and the channel's errors
   */
  async open({ signal = NEVER, wanted = null } = {}) {
    this._asked = null;
    const wentThrough = this._protocol.stepping ? await this._resumed(signal) : null;
    // Nobody knows the session that an unanswered request for one may have made.
    if (this._protocol.outstanding !== null) this._protocol.giveUp();
    if (this._protocol.opened !== null) return wentThrough;
    await this._losses.backOff(signal);
    await this._begin(wanted, signal);
    return null;
  }

  /** @param {Rows | null} wanted @param {AbortSignal} signal */
  async _begin(wanted, signal) {
    const dtype = this._usualDtype;
    const chain = wanted && dtype && (await this._named(wanted, dtype, signal));
    const moving = new Moving(this._protocol, () => this._channel.move(this._protocol));
    const encode = () => this._protocol.open(chain, moving.waits);
    const ask = () => this._asking.ask(encode, signal, OPENING_QUIET, (refused) => moving.refused(refused));
    await this._waiting.during(ask);
    this._usualDtype = this.dtype;
    if (dtype === this.dtype) this._asked = wanted;
    this._losses.opened(this._channel.connections, this._protocol.opened?.replica ?? null);
    this.sessionsOpened += 1;
  }

  /**
   * How many of the first rows of `wanted` the open session holds, of which it holds `start` for certain; the
   * server is asked for more unless it was with the opening.
   * @param {Rows} wanted @param {number} start
   * @param {{signal?: AbortSignal}} [options]
   * @returns {Promise<number>}
   * @throws {CacheLost} as `step`
   * @throws {import('../common/errors.js').AppError} as `open`
   */
  async held(wanted, start, { signal = NEVER } = {}) {
    if (this._asked === wanted) return this._protocol.cached;
    if (start > this._protocol.cached) throw new CacheLost();
    if (!this._protocol.restores) return start;
    const chain = await this._named(wanted, this.dtype, signal);
    const event = await this._asking.ask(() => this._protocol.restore(start, chain), signal);
    if (event.type !== 'restored') throw this._asking.untrue('the answer to a restore is not its result');
    return event.cached;
  }

  /**
   * Appends rows after `start` cached positions.
   * @param {number} start
   * @param {Float32Array} embeddings n * H
   * @param {{adapter?: string | null, attention?: Wanted, signal?: AbortSignal, rows?: number}} [options] the name
   *   of an adapter that the server applies to what it returns; what attention is wanted (see `attend`); the
   *   states of how many of the last rows are: one or all, or any number where the session `returnsRows`
   * @returns {Promise<StepOutput>}
   * @throws {CacheLost} afterwards a step with start 0 may follow at once
   * @throws {import('../common/errors.js').AppError} as `open`
   */
  async step(start, embeddings, { attention = false, rows = 1, ...options } = {}) {
    const stop = start + embeddings.length / this._hiddenSize;
    const plan = { start, stop, rows, attention, embeddings: async () => embeddings };
    /** @type {StepOutput[]} */
    const outputs = [];
    await this.prefill([plan], { ...options, answered: (output) => void outputs.push(output) });
    return outputs[0];
  }

  /**
   * Appends the rows of `plans`, which follow each other; of more than one several are under way at a time where the
   * connection carries them.
   * @param {import('./prefill.js').Plan[]} plans
   * @param {{adapter?: string | null, signal?: AbortSignal, answered: (output: StepOutput) => void}} options answered:
   *   called for each of them, in order, once its rows are held
   * @returns {Promise<void>}
   * @throws {CacheLost} as `step`
   * @throws {import('../common/errors.js').AppError} as `open`, and what `embeddings` of a plan throws
   */
  async prefill(plans, { adapter = null, signal = NEVER, answered }) {
    await this.open({ signal });
    if (plans[0].start > this._protocol.cached) throw new CacheLost();
    await this._steps({ adapter, signal, answered }).run(plans);
  }

  /** How steps go. @returns {Pick<import('./prefill.js').Options, 'clock' | 'several'>} */
  _way() {
    return { clock: this._clock, several: () => this._channel.several };
  }

  /** @param {Omit<import('./prefill.js').Options, 'clock' | 'several'>} options */
  _steps(options) {
    return new Prefill(this._channel, this._protocol, this._asking, this._window, { ...options, ...this._way() });
  }

  /**
   * Makes room for answers with the attention over `positions`; valid once it is open.
   * @param {number} positions @param {Wanted} wanted
   * @throws {import('../common/errors.js').AppError} unsupported, attention_too_large; nothing was sent
   */
  attend(positions, wanted) {
    this._channel.accept(this._protocol.attentionRoom(positions, wanted));
  }

  /** Ends the session as far as the server can be reached; nobody waits for its answer. */
  async close() {
    const frame = this._protocol.close();
    if (frame !== null) await this._channel.farewell(frame, CLOSE_WITHIN);
  }

  /**
   * Ends the session, and has the server delete what it keeps of it; a connection that is lost is made again for it.
   * @param {{signal?: AbortSignal}} [options]
   * @returns {Promise<boolean>} whether the server said that it did; false also where no session is open
   * @throws {import('../common/errors.js').AppError} the channel's errors
   */
  async forget({ signal = NEVER } = {}) {
    const frame = this._protocol.close({ keep: false });
    if (frame === null) return false;
    const answer = await this._channel.exchange(frame, { signal });
    try {
      return decodeServerMessage(answer, frameLimit(this._hiddenSize, 1)).type === 'closed';
    } catch (error) {
      if (error instanceof WireError) return false;
      throw error;
    }
  }

  /** Whether the open session can be asked for what the server kept. */
  get restores() {
    return this._protocol.restores;
  }

  _opened() {
    if (this._protocol.opened === null) throw new ProtocolStateError('the session is not open');
    return this._protocol.opened;
  }

  /** How many of the steps that were broken off go through. @param {AbortSignal} signal */
  async _resumed(signal) {
    let through = 0;
    try {
      await this._steps({ adapter: null, signal, answered: () => void (through += 1) }).run([]);
    } catch (error) {
      // Without the session a new one is the way on; what else is wrong with the server shows there.
      const lost = error instanceof CacheLost || error instanceof AnswerInvalid;
      // A refusal in a frame answers the step: the session holds what it held before.
      if (!lost && !(error instanceof ServerRefused && !this._protocol.stepping)) throw error;
    }
    return through;
  }

  /** @param {Rows} rows @param {DType} dtype @param {AbortSignal} signal */
  _named(rows, dtype, signal) {
    return named(this._protocol.newChain(), rows, { hiddenSize: this._hiddenSize, dtype, signal });
  }

  /** The server has lost the session. @param {string} code what it says of it */
  async _gone(code) {
    this._losses.lost(this._channel.connections);
    // There is nothing to close. What the server still holds would count against its limits until it expires.
    if (code === 'unknown_session') this._protocol.forget();
    else await this.close();
  }
}
