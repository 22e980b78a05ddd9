// The tokens of one session, as the backend has cached them.
//
// Extending is the only way to move: prefill, the next token, a later turn, an edit, a retry and a
// lost cache are all "make the cache hold exactly these tokens".
import { PromptEmpty } from '../common/errors.js';
import { Cancelled } from '../transport/errors.js';
import { CacheLost, PromptTooLong, SessionUnstable } from './errors.js';
import { Trail } from './trail.js';

const MAX_RESENDS = 3;
// So many rows cost more than to ask whether they are held.
const WORTH_ASKING = 32;

/** @typedef {import('../../types/gatelink.js').DType} DType */
/**
 * What a sequence needs of a backend: `RemoteBackend` is one.
 * @typedef {object} Backend
 * @property {(options: {signal?: AbortSignal, wanted?: Rows | null}) => Promise<boolean | null | void>} open whether a step that was
 *   broken off went through after all; null: there was none, or its session is lost
 * @property {number} maxRows
 * @property {number} maxContext
 * @property {number} [cached] positions held
 * @property {boolean} [unfinished] whether `open` will first send a step again that was broken off; without it
 *   such a step is taken for lost
 * @property {(start: number, embeddings: Float32Array, options: {adapter: string | null,
 *   attention?: boolean, signal?: AbortSignal}) => Promise<import('./remote.js').StepOutput>} step
 * @property {(wanted: Rows, start: number, options: {signal?: AbortSignal}) => Promise<number>} [held] how many of
 *   those rows the open session holds, `start` of them for certain; a backend that kept more takes them in
 * @property {(positions: number) => void} [attend] throws where no attention can be asked for
 * @property {boolean} [reachable] false: no answer can come at present
 * @property {() => Promise<void>} close
 */
/**
 * Rows of a conversation, made when they are asked for: [stop - start, H], to travel in `dtype`.
 * @typedef {{length: number, part: (start: number, stop: number, dtype: DType) => Promise<Float32Array>}} Rows
 */
/**
 * `hidden`: float32 [H] after the last token; `rows` sent. Times in seconds: `exchange` is the wait
 * for the server with `compute` and `queue`, `wire` the rest of it. `attention`: what the last token
 * attends to, float32 [layers, tokens], where it was asked for.
 * @typedef {{hidden: Float32Array, rows: number, exchange: number, compute: number, queue: number,
 *   wire: number, attention: Float32Array | null}} Extended
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
    /** @type {number[]} */
    this._cached = [];
    /**
     * What is cached at least if the step that was broken off did not go through, and if it did.
     * @type {{kept: number[], next: number[]} | null}
     */
    this._brokenOff = null;
    /**
     * The name of one that the server applies, sent with every step from now on. It comes after the
     * layers, so what is cached does not depend on it.
     * @type {string | null}
     */
    this.adapter = null;
    /** What this sequence cost so far. */
    this.counters = { steps: 0, rowsSent: 0, rowsReused: 0, rowsRestored: 0, resends: 0 };
    /** Where caches ended that were given up. */
    this.trail = new Trail();
  }

  /** Positions that the backend is believed to hold. */
  get cached() {
    return this._cached.length;
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
    return commonPrefix(this._cached, tokens);
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
   * Makes the cache hold `tokens` and returns the hidden state after the last one. Sends only what
   * differs from the cache.
   * @param {number[]} tokens
   * @param {{signal?: AbortSignal, attention?: boolean}} [options] attention: of the last token, too
   * @returns {Promise<Extended>}
   * @throws {PromptEmpty | PromptTooLong | SessionUnstable | import('../common/errors.js').AppError}
   *   the latter: what the backend throws
   */
  async extend(tokens, { signal, attention = false } = {}) {
    if (tokens.length === 0) throw new PromptEmpty();
    /** @type {number | null} */
    let stood = null;
    for (let attempt = 0; attempt <= MAX_RESENDS; attempt++) {
      /** @type {number | null} */
      let stands = null;
      try {
        const wanted = this._wanted(tokens, stood);
        await this._open(signal, wanted);
        const limit = this._backend.maxContext;
        if (tokens.length > limit) throw new PromptTooLong(tokens.length, limit);
        stands = this._stands(tokens);
        if (wanted && (await this._restore(tokens, wanted, signal))) stands = this.cached;
        return await this._sendRest(tokens, attention, signal);
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
    const left = this._cached;
    for (const cached of this._brokenOff ? [this._brokenOff.kept, this._brokenOff.next] : [left]) this.trail.note(cached);
    this._cached = [];
    this._brokenOff = null;
    return left;
  }

  /** What is cached behind `start` is about to be given up. @param {number} start */
  _cutBack(start) {
    if (start < this._cached.length) this.trail.note(this._cached);
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
   * What the backend is asked for before it is sent: all tokens but the last, which is always sent.
   * @param {number[]} tokens
   * @param {number | null} stood where a lost cache ended: its last, partial block is found by that end alone
   * @returns {Rows | null} null: that is not worth it, or must not be
   */
  _wanted(tokens, stood) {
    const worth = this._backend.held && this._nameable && tokens.length - this.shared(tokens) > WORTH_ASKING;
    if (!worth) return null;
    return { length: stood || tokens.length - 1, part: (...range) => this._rows(tokens, ...range) };
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
    this._cutBack(start);
    // Of what lies behind, nobody knows once the question is on its way.
    this._cached = tokens.slice(0, start);
    const held = (await this._backend.held?.(wanted, start, { signal })) ?? start;
    if (held <= start) return 0;
    this._cached = tokens.slice(0, held);
    this.counters.rowsRestored += held - start;
    return held - start;
  }

  /** @param {AbortSignal | undefined} signal @param {Rows | null} [wanted] */
  async _open(signal, wanted) {
    const wentThrough = (await this._backend.open({ signal, wanted })) ?? null;
    const brokenOff = this._brokenOff;
    this._brokenOff = null;
    if (brokenOff !== null && wentThrough !== null) this._cached = wentThrough ? brokenOff.next : brokenOff.kept;
  }

  /**
   * @param {number[]} tokens @param {boolean} attention @param {AbortSignal | undefined} signal
   * @returns {Promise<Extended>}
   */
  async _sendRest(tokens, attention, signal) {
    if (attention) this._backend.attend?.(tokens.length);
    // The last token is always sent, because states are returned only for rows that are given.
    let start = Math.min(this.shared(tokens), tokens.length - 1);
    this._cutBack(start);
    this.counters.rowsReused += start;
    const rows = tokens.length - start;
    const sum = { exchange: 0, compute: 0, queue: 0 };
    for (;;) {
      const stop = Math.min(start + this._backend.maxRows, tokens.length);
      const wanted = attention && stop === tokens.length;
      const output = await this._step(tokens, start, stop, wanted, signal);
      sum.exchange += output.exchangeUs / 1e6;
      sum.compute += output.computeUs / 1e6;
      sum.queue += output.queueUs / 1e6;
      start = stop;
      if (stop === tokens.length) {
        const wire = Math.max(0, sum.exchange - sum.compute - sum.queue);
        return { hidden: output.hidden, rows, ...sum, wire, attention: output.attention ?? null };
      }
    }
  }

  /**
   * @param {number[]} tokens @param {number} start @param {number} stop @param {boolean} attention
   * @param {AbortSignal | undefined} signal
   */
  async _step(tokens, start, stop, attention, signal) {
    const embeddings = await this._rows(tokens, start, stop);
    // Nothing was sent yet, so the belief stays.
    if (signal?.aborted) throw new Cancelled();
    const kept = this._cached.slice(0, start);
    const next = kept.concat(tokens.slice(start, stop));
    // Until the answer is here it is unknown what the backend holds.
    this._cached = [];
    const output = await this._settling({ kept, next }, () =>
      this._backend.step(start, embeddings, { adapter: this.adapter, attention, signal }),
    );
    this._cached = next;
    this.counters.steps += 1;
    this.counters.rowsSent += stop - start;
    return output;
  }

  /**
   * @template T
   * @param {{kept: number[], next: number[]}} step what is cached before and after `run` @param {() => Promise<T>} run
   * @returns {Promise<T>}
   */
  async _settling(step, run) {
    try {
      return await run();
    } catch (error) {
      if (error instanceof CacheLost) this.trail.note(step.kept);
      this._brokenOff = this._backend.unfinished ? step : null;
      throw error;
    }
  }
}

/** @param {number[]} left @param {number[]} right */
function commonPrefix(left, right) {
  const length = Math.min(left.length, right.length);
  for (let i = 0; i < length; i++) if (left[i] !== right[i]) return i;
  return length;
}
