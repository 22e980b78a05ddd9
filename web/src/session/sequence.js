// The tokens of one session, as the backend has cached them.
//
// Extending is the only way to move: prefill, the next token, a later turn, an edit, a retry and a
// lost cache are all "make the cache hold exactly these tokens".
import { PromptEmpty } from '../common/errors.js';
import { ProtocolStateError } from '../protocol/errors.js';
import { INTERACTIVE_ROWS } from '../protocol/returned.js';
import { Cancelled } from '../transport/errors.js';
import { CacheLost, PromptTooLong, SessionUnstable } from './errors.js';
import { lastStates, slicesOf } from './slices.js';
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
 * @property {number} [interactiveRows] rows with which a step still is interactive; 16 without it
 * @property {boolean} [returnsRows] false: of a step's rows the states of the last or of all come back, and not of any
 *   number
 * @property {(start: number, embeddings: Float32Array, options: {adapter: string | null, attention?: boolean,
 *   signal?: AbortSignal, rows?: number}) => Promise<import('./remote.js').StepOutput>} step
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
 * `hidden`: float32 [H] after the last token; `states`: float32 [k * H] after each of the last k tokens, where so many
 * were asked for; `rows` sent. Times in seconds: `exchange` is the wait
 * for the server with `compute` and `queue`, `wire` the rest of it. `attention`: what the last token
 * attends to, float32 [layers, tokens], where it was asked for.
 * @typedef {{hidden: Float32Array, states: Float32Array, rows: number, exchange: number, compute: number, queue: number,
 *   wire: number, attention: Float32Array | null}} Extended
 */
/**
 * What is cached before and after a step, and how many of the last tokens of `next` are a draft.
 * @typedef {{kept: number[], next: number[], drafted: number}} Change
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
    /** So many of the last of them are a draft, of which a reply may take none. */
    this._drafted = 0;
    /**
     * What is cached at least if the step that was broken off did not go through, and if it did.
     * @type {Change | null}
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
   * @param {{signal?: AbortSignal, attention?: boolean}} [options] attention: of the last token, too
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
   * @param {{signal?: AbortSignal, attention?: boolean, rows?: number}} [options] rows: 1 to tokens.length
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
    const left = this._cached;
    if (this._brokenOff) this.trail.note(this._brokenOff.kept);
    const { next, drafted } = this._brokenOff ?? { next: left, drafted: this._drafted };
    this._noteEnd(next, drafted);
    this._believe([]);
    this._brokenOff = null;
    return left;
  }

  /** @param {number[]} cached @param {number} [drafted] */
  _believe(cached, drafted = 0) {
    this._cached = cached;
    this._drafted = drafted;
  }

  /** What is cached behind `start` is about to be given up. @param {number} start */
  _cutBack(start) {
    // A draft that is taken back was never a part of the conversation, and no server keeps it.
    if (start < this._cached.length - this._drafted) this._noteEnd(this._cached, this._drafted);
  }

  /** A server may have kept `cached` with its draft, or without. @param {number[]} cached @param {number} drafted */
  _noteEnd(cached, drafted) {
    if (drafted) this.trail.note(cached.slice(0, cached.length - drafted));
    this.trail.note(cached);
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
    this._cutBack(start);
    // Of what lies behind, nobody knows once the question is on its way.
    this._believe(tokens.slice(0, start));
    const held = (await this._backend.held?.(wanted, start, { signal })) ?? start;
    if (held <= start) return 0;
    this._believe(tokens.slice(0, held));
    this.counters.rowsRestored += held - start;
    return held - start;
  }

  /** @param {AbortSignal | undefined} signal @param {Rows | null} [wanted] */
  async _open(signal, wanted) {
    const wentThrough = (await this._backend.open({ signal, wanted })) ?? null;
    const brokenOff = this._brokenOff;
    this._brokenOff = null;
    if (brokenOff === null || wentThrough === null) return;
    if (wentThrough) this._believe(brokenOff.next, brokenOff.drafted);
    else this._believe(brokenOff.kept);
  }

  /**
   * @param {number[]} tokens @param {number} rows @param {boolean} attention @param {AbortSignal | undefined} signal
   * @returns {Promise<Extended>}
   */
  async _sendRest(tokens, rows, attention, signal) {
    if (attention) this._backend.attend?.(tokens.length);
    // Those tokens are always sent, because states are returned only for rows that are given.
    const start = Math.min(this.shared(tokens), tokens.length - rows);
    this._cutBack(start);
    this.counters.rowsReused += start;
    const { maxRows, returnsRows = true } = this._backend;
    const slices = slicesOf(start, tokens.length, rows, { maxRows, returnsRows });
    const chosen = tokens.length - (rows - 1);
    const outputs = [];
    for (const slice of slices) {
      const watched = attention && slice.stop === tokens.length;
      outputs.push(await this._step(tokens, slice, Math.max(0, slice.stop - chosen), watched, signal));
    }
    const states = lastStates(outputs.map(({ hidden }) => hidden), slices, rows);
    return { ...states, ...timesOf(outputs), rows: tokens.length - start, attention: outputs.at(-1)?.attention ?? null };
  }

  /**
   * @param {number[]} tokens @param {import('./slices.js').Slice} slice
   * @param {number} drafted how many of its last tokens are a draft
   * @param {boolean} attention @param {AbortSignal | undefined} signal
   */
  async _step(tokens, { start, stop, rows }, drafted, attention, signal) {
    const embeddings = await this._rows(tokens, start, stop);
    // Nothing was sent yet, so the belief stays.
    if (signal?.aborted) throw new Cancelled();
    const kept = this._cached.slice(0, start);
    const next = kept.concat(tokens.slice(start, stop));
    // Until the answer is here it is unknown what the backend holds.
    this._believe([]);
    const output = await this._settling({ kept, next, drafted }, () =>
      this._backend.step(start, embeddings, { adapter: this.adapter, attention, signal, rows }),
    );
    this._believe(next, drafted);
    this.counters.steps += 1;
    this.counters.rowsSent += stop - start;
    return output;
  }

  /**
   * @template T
   * @param {Change} step what `run` changes @param {() => Promise<T>} run
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

/** The seconds of all steps. @param {import('./remote.js').StepOutput[]} outputs */
function timesOf(outputs) {
  const seconds = (/** @type {'exchangeUs' | 'computeUs' | 'queueUs'} */ part) =>
    outputs.reduce((sum, output) => sum + output[part] / 1e6, 0);
  const [exchange, compute, queue] = [seconds('exchangeUs'), seconds('computeUs'), seconds('queueUs')];
  return { exchange, compute, queue, wire: Math.max(0, exchange - compute - queue) };
}

/** @param {number[]} left @param {number[]} right */
function commonPrefix(left, right) {
  const length = Math.min(left.length, right.length);
  for (let i = 0; i < length; i++) if (left[i] !== right[i]) return i;
  return length;
}
