// The tokens of one session, as the backend has cached them.
//
// Extending is the only way to move: prefill, the next token, a later turn, an edit, a retry and a
// lost cache are all "make the cache hold exactly these tokens".
import { PromptEmpty } from '../common/errors.js';
import { ProtocolStateError } from '../protocol/errors.js';
import { INTERACTIVE_ROWS } from '../protocol/steps/returned.js';
import { Cancelled } from '../transport/errors.js';
import { limitsOf, oneByOne, timesOf } from './backend.js';
import { Belief } from './belief.js';
import { CacheLost, PromptTooLong, SessionUnstable } from './errors.js';
import { lastStates, slicesOf } from './slices.js';
import { Trail } from './trail.js';

const MAX_RESENDS = 3;
// So many rows cost more than to ask whether they are held.
const WORTH_ASKING = 32;

/** @typedef {import('../../types/gatelink.js').DType} DType */
/** @typedef {import('./prefill.js').Plan} Plan */
/** @typedef {import('./backend.js').Backend} Backend */
/** @typedef {import('../protocol/attention.js').Wanted} Wanted */
/** @typedef {import('./backend.js').Rows} Rows */
/** @typedef {import('./backend.js').StepOutput} StepOutput */
/**
 * `hidden`: float32 [H] after the last token; `states`: float32 [k * H] after each of the last k tokens, where so many
 * were asked for; `rows` sent. Times in seconds: `exchange` is the wait
 * for the server with `compute` and `queue`, `wire` the rest of it. `attention`: what the last token
 * attends to, where it was asked for, or why that cannot be true.
 * @typedef {{hidden: Float32Array, states: Float32Array, rows: number, exchange: number, compute: number, queue: number,
 *   wire: number, attention: import('./backend.js').Attended | null}} Extended
 */

export class Sequence {
  /**
   * @param {Backend} backend
   * @param {(tokens: number[], start: number, stop: number, dtype?: DType) => Promise<Float32Array>} rows
   *   the embeddings [stop - start, H] of those tokens, to travel in `dtype`; without one in that of the session,
   *   which is open then
   * @param {{nameable?: boolean}} [options] nameable: whether a server may be told the names of rows that it was
   *   never sent, as where a row depends on nothing but its token
   */
  constructor(backend, rows, { nameable = false } = {}) {
    this._backend = backend;
    this._rows = rows;
    this._nameable = nameable;
    /**
     * The name of one that the server applies, sent with every step from now on. It comes after the
     * layers, so what is cached does not depend on it.
     * @type {string | null}
     */
    this.adapter = null;
    /**
     * What this sequence cost so far; `exact`: how many of the first positions are exact, where not all of them are.
     * @type {{steps: number, rowsSent: number, rowsReused: number, rowsRestored: number, resends: number, exact?: number}}
     */
    this.counters = { steps: 0, rowsSent: 0, rowsReused: 0, rowsRestored: 0, resends: 0 };
    /** Where caches ended that were given up. */
    this.trail = new Trail();
    this._belief = new Belief(this.trail);
  }

  /** Positions that the backend is believed to hold. */
  get cached() {
    return this._belief.tokens.length;
  }

  /** Whether an answer can come at present, as far as is known. */
  get reachable() {
    return this._backend.reachable ?? true;
  }

  /**
   * How many of the first of `tokens` the backend is believed to hold.
   * @param {number[]} tokens
   */
  shared(tokens) {
    return this._belief.shared(tokens);
  }

  /**
   * Positions that the session may hold; opens the session.
   * @param {{signal?: AbortSignal}} [options]
   */
  async maxContext({ signal } = {}) {
    await this._open(signal);
    return this._backend.maxContext;
  }

  /**
   * Rows with which a step still is interactive; opens the session.
   * @param {{signal?: AbortSignal}} [options]
   */
  async interactiveRows({ signal } = {}) {
    await this._open(signal);
    return this._backend.interactiveRows ?? INTERACTIVE_ROWS;
  }

  /**
   * Makes the cache hold `tokens` and returns the hidden state after the last one. Sends only what
   * differs from the cache.
   * @param {number[]} tokens
   * @param {{signal?: AbortSignal, attention?: Wanted}} [options] attention: of the last token, too
   * @returns {Promise<Extended>}
   * @throws {PromptEmpty | PromptTooLong | SessionUnstable | import('../common/errors.js').AppError}
   *   the latter: what the backend throws
   */
  extend(tokens, { signal, attention } = {}) {
    return this.cache(tokens, { signal, attention });
  }

  /**
   * As `extend`, with the states after each of the last `rows` tokens. All of those but the first are a draft: what a
   * later call takes back of them was never a part of the conversation.
   * @param {number[]} tokens
   * @param {{signal?: AbortSignal, attention?: Wanted, rows?: number}} [options] rows: 1 to tokens.length
   * @returns {Promise<Extended>}
   * @throws {PromptEmpty | PromptTooLong | SessionUnstable | ProtocolStateError
   *   | import('../common/errors.js').AppError} as `extend`; protocol_state for `rows` beyond `tokens`
   */
  async cache(tokens, { signal, attention = false, rows = 1 } = {}) {
    if (tokens.length === 0) throw new PromptEmpty();
    if (!(Number.isInteger(rows) && rows >= 1 && rows <= tokens.length)) {
      throw new ProtocolStateError(`${tokens.length} tokens have not the states of ${rows}`);
    }
    /** @type {number | null} */
    let stood = null;
    for (let attempt = 0; attempt <= MAX_RESENDS; attempt++) {
      /** @type {number | null} */
      let stands = null;
      try {
        const wanted = this._wanted(tokens, stood || tokens.length - rows);
        await this._open(signal, wanted);
        const limit = this._backend.maxContext;
        if (tokens.length > limit) throw new PromptTooLong(tokens.length, limit);
        stands = this._stands(tokens);
        if (wanted && (await this._restore(tokens, wanted, signal))) stands = this.cached;
        return await this._sendRest(tokens, rows, attention, signal);
      } catch (error) {
        if (!(error instanceof CacheLost)) throw error;
        this.counters.resends += 1;
        stood ||= stands;
        this.leave();
      }
    }
    throw new SessionUnstable();
  }

  /** Ends the session. */
  async close() {
    this.leave();
    await this._backend.close();
  }

  /** Believes in no cache any more. @returns {number[]} the tokens of the one that was believed in */
  leave() {
    return this._belief.leave();
  }

  /**
   * All rows of `tokens` as they can be named; null where they must not be.
   * @returns {((tokens: number[]) => Rows) | null}
   */
  get named() {
    if (!this._nameable) return null;
    return (tokens) => ({ length: tokens.length, part: (...range) => this._rows(tokens, ...range) });
  }

  /**
   * What the backend is asked for before it is sent.
   * @param {number[]} tokens
   * @param {number} length of the first of them: all but those that are always sent, or up to where a lost cache
   *   ended, whose last, partial block is found by that end alone
   * @returns {Rows | null} null: that is not worth it, or must not be
   */
  _wanted(tokens, length) {
    const worth = this._backend.held && this._nameable && tokens.length - this.shared(tokens) > WORTH_ASKING;
    return worth && length > 0 ? { length, part: (...range) => this._rows(tokens, ...range) } : null;
  }

  /**
   * Positions of the cache, if `tokens` go on from all of them.
   * @param {number[]} tokens @returns {number | null}
   */
  _stands(tokens) {
    return this.cached < tokens.length && this.shared(tokens) === this.cached ? this.cached : null;
  }

  /**
   * Has the backend take in what it kept of `tokens`.
   * @param {number[]} tokens @param {Rows} wanted @param {AbortSignal | undefined} signal
   * @returns {Promise<number>} how many rows that were
   */
  async _restore(tokens, wanted, signal) {
    const start = Math.min(this.shared(tokens), this._backend.cached ?? Infinity);
    if (tokens.length - start <= WORTH_ASKING) return 0;
    this._belief.cutBack(start);
    // Of what lies behind, nobody knows once the question is on its way.
    this._belief.hold(tokens.slice(0, start));
    const held = (await this._backend.held?.(wanted, start, { signal })) ?? start;
    if (held <= start) return 0;
    this._belief.hold(tokens.slice(0, held));
    this.counters.rowsRestored += held - start;
    return held - start;
  }

  /** @param {AbortSignal | undefined} signal @param {Rows | null} [wanted] */
  async _open(signal, wanted) {
    this._belief.settled((await this._backend.open({ signal, wanted })) ?? null);
  }

  /**
   * @param {number[]} tokens @param {number} rows @param {Wanted} attention @param {AbortSignal | undefined} signal
   * @returns {Promise<Extended>}
   */
  async _sendRest(tokens, rows, attention, signal) {
    if (attention) this._backend.attend?.(tokens.length, attention);
    // Those tokens are always sent, because states are returned only for rows that are given.
    const start = Math.min(this.shared(tokens), tokens.length - rows);
    this._belief.cutBack(start);
    this.counters.rowsReused += start;
    const slices = slicesOf(start, tokens.length, rows, limitsOf(this._backend));
    const outputs = await this._send([...tokens], slices, { rows, attention, signal });
    const states = lastStates(outputs.map(({ hidden }) => hidden), slices, rows);
    const attended = outputs.at(-1)?.attention ?? null;
    return { ...states, ...timesOf(outputs), rows: tokens.length - start, attention: attended };
  }

  /**
   * @param {number[]} tokens that nobody changes any more @param {import('./slices.js').Slice[]} slices of them
   * @param {{rows: number, attention: Wanted, signal: AbortSignal | undefined}} options
   */
  async _send(tokens, slices, { rows, attention, signal }) {
    const plans = slices.map((slice) => this._planOf(tokens, slice, tokens.length - rows, attention, signal));
    /** @type {StepOutput[]} */
    const outputs = [];
    const answered = (/** @type {StepOutput} */ output) => {
      const { start, stop } = slices[outputs.push(output) - 1];
      this._belief.answered();
      this.counters.steps += 1;
      this.counters.rowsSent += stop - start;
      if (output.inexact) this.counters.exact = stop - output.inexact;
      else delete this.counters.exact;
    };
    const options = { adapter: this.adapter, signal, answered };
    try {
      await (this._backend.prefill ? this._backend.prefill(plans, options) : oneByOne(this._backend, plans, options));
    } catch (error) {
      this._belief.brokeOff(this._backend.unfinished ?? 0, error instanceof CacheLost);
      throw error;
    }
    return outputs;
  }

  /**
   * @param {number[]} tokens @param {import('./slices.js').Slice} slice
   * @param {number} first of the tokens whose states are wanted; those behind it are a draft
   * @param {Wanted} attention @param {AbortSignal | undefined} signal
   * @returns {Plan}
   */
  _planOf(tokens, { start, stop, rows }, first, attention, signal) {
    const embeddings = async () => {
      const made = await this._rows(tokens, start, stop);
      // Nothing was sent yet, so the belief stays.
      if (signal?.aborted) throw new Cancelled();
      this._belief.sends({ tokens, start, stop, drafted: Math.max(0, stop - first - 1) });
      return made;
    };
    return { start, stop, rows, attention: stop === tokens.length && attention, needed: stop > first, embeddings };
  }
}
