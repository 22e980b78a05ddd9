// The device's side of one session as a state machine without I/O.
//
// Feed it what the transport received, send what it returns. One message is outstanding at a time, or several steps
// (steps/under_way.js); after a lost connection send `unanswered` again, in order: the server appends a step once, however
// often it arrives. An `open` that is sent again may open a second session, which the server drops when it has been
// idle for long.
import { checkOpened, checkedHidden } from './answer_check.js';
import { Asked, openFrame, restoreFrame } from './asked.js';
import { requestFor, rowsBytes, toldRows } from './attention.js';
import { PrefixChain, equal } from './digest.js';
import { MalformedMessage, ProtocolStateError } from './errors.js';
import { IGNORED } from './events.js';
import { frameLimit } from './limits.js';
import { encodeMessage } from './messages.js';
import { decodeServerMessage } from './parsing.js';
import { RESTORE } from './probe.js';
import { stepFrame } from './steps/frame.js';
import { ROWS, returned } from './steps/returned.js';
import { checkReturned, checkedRows } from './steps/check.js';
import { inexactWithin } from './steps/tiers.js';
import { Tensor } from './tensor.js';
import { MOST_UNDER_WAY, UnderWay } from './steps/under_way.js';

/** @typedef {import('../../types/gatelink.js').DType} DType */
/** @typedef {import('./messages.js').Opened} Opened */
/** @typedef {import('./messages.js').Restored} Restored */
/** @typedef {import('./messages.js').Result} Result */
/** @typedef {import('./messages.js').Failure} Failure */
/** @typedef {import('./events.js').Event} Event */
const NOTHING = new Uint8Array(0);

/** One session at a time, any number in a row. */
export class ClientProtocol {
  /**
   * @param {number} hiddenSize
   * @param {string} manifest digest of the manifest whose ends the device holds
   * @param {DType | null} [dtype] asked of the server; null: its own
   * @param {{cacheSalt?: string | null, cache?: import('./steps/tiers.js').Cache}} [keeping] goes with every `open`
   */
  constructor(hiddenSize, manifest, dtype = null, { cacheSalt = null, cache = 'exact' } = {}) {
    this._hiddenSize = hiddenSize;
    this._manifest = manifest;
    this._dtype = dtype;
    this._keeping = { cacheSalt, cache };
    /** @type {Opened | null} */
    this._opened = null;
    /** The frame of an `open` or `restore`. @type {Uint8Array | null} */
    this._question = null;
    /** @type {Asked | null} */
    this._asked = null;
    this._nextStep = 1;
    this._chain = new PrefixChain(manifest);
    this._underWay = new UnderWay(this._chain);
  }

  /** What the server agreed to, null before and after a session. */
  get opened() {
    return this._opened;
  }

  /** Positions that the server holds as far as the device knows. */
  get cached() {
    return this._chain.length;
  }

  /** The frames that await their answers, to send again in this order after a lost connection. */
  get unanswered() {
    return this._question ? [this._question] : this._underWay.frames;
  }

  /** The frame whose answer comes next. */
  get outstanding() {
    return this._question ?? this._underWay.next?.frame ?? null;
  }

  /** Steps of the session that await their answers. */
  get stepping() {
    return this._underWay.length;
  }

  /** Further sessions are opened in `dtype`, and no other is accepted. @param {DType} dtype */
  askFor(dtype) {
    this._dtype = dtype;
  }

  /** Whether the server of the open session can be asked for what it holds. */
  get restores() {
    return this._opened?.capabilities.includes(RESTORE) ?? false;
  }

  /** Whether a step of the open session may ask for the last so many states. */
  get countsRows() {
    return this._opened?.capabilities.includes(ROWS) ?? false;
  }

  /** An empty chain of this model's rows. */
  newChain() {
    return new PrefixChain(this._manifest);
  }

  /**
   * Asks for a session; a previous one is forgotten.
   * @param {PrefixChain | null} [chain] of rows in the dtype that is asked for, of which the session may begin
   *   with as many as the server holds
   * @param {boolean} [wait] whether a full server may let the device wait
   * @returns {Uint8Array}
   */
  open(chain = null, wait = false) {
    this.forget();
    if (chain?.length && this._keeping.cache !== 'off') this._asked = new Asked(chain, 0);
    this._question = openFrame(this._manifest, this._dtype, { ...this._keeping, wait }, this._asked?.chain ?? null);
    return this._question;
  }

  /**
   * Asks the open session to hold as much of `chain`, whose first `start` positions it holds, as the server has.
   * @param {number} start @param {PrefixChain} chain
   * @returns {Uint8Array}
   * @throws {ProtocolStateError}
   */
  restore(start, chain) {
    const opened = this._opened;
    if (opened === null || this.outstanding !== null || !this.restores) {
      throw new ProtocolStateError('this needs an open session that can restore, and is idle');
    }
    if (!(start <= this.cached && start < chain.length && equal(chain.at(start), this._chain.at(start)))) {
      throw new ProtocolStateError(`start ${start} of these rows is not held`);
    }
    this._asked = new Asked(chain, start);
    this._question = restoreFrame(opened, start, chain, start === this.cached);
    return this._question;
  }

  /**
   * Waits for no answer to the outstanding question any more. Of the open session what it holds for certain is
   * believed; one that was asked for is forgotten.
   */
  giveUp() {
    if (this._opened === null || this._asked === null) this.forget();
    else this._believe(0, NOTHING);
    this._settle();
  }

  /** The session is lost: nothing is cached and nothing is outstanding. */
  forget() {
    this._opened = null;
    this._nextStep = 1;
    this._chain = new PrefixChain(this._manifest);
    this._settle();
  }

  /**
   * The frame that keeps `start` positions and appends rows, behind the steps that are under way.
   * @param {number} start at most what is held once those are appended
   * @param {Float32Array} embeddings n * H
   * @param {{rows?: import('./steps/returned.js').Rows, adapter?: string | null, attention?: import('./attention.js').Wanted}} [options]
   *   rows: whose states are wanted, a number only where the server `countsRows`; adapter: the name of one that the
   *   server applies to the rows that it returns; attention: what of the last row's is wanted, too
   * @returns {Uint8Array}
   * @throws {ProtocolStateError}
   * @throws {import('./errors.js').WireError} before anything is sent, what the server would answer
   */
  step(start, embeddings, { rows = 'last', adapter = null, attention = false } = {}) {
    const opened = this._opened;
    if (opened === null || this._question !== null || this.stepping === MOST_UNDER_WAY) {
      throw new ProtocolStateError('a step needs an open session with fewer outstanding messages');
    }
    if (!(start >= 0 && start <= this._underWay.end)) {
      throw new ProtocolStateError(`start ${start} is beyond the ${this._underWay.end} cached positions`);
    }
    const count = checkedRows(opened, start, embeddings.length / this._hiddenSize);
    checkReturned(opened, rows, count);
    const request = requestFor(opened, attention);
    if (attention) this.attentionRoom(start + count, attention);
    const { frame, message } = stepFrame(opened, {
      step: this._nextStep + this.stepping,
      start,
      prefix: this._underWay.at(start),
      embeddings: Tensor.fromF32(embeddings, this._hiddenSize, opened.dtype),
      rows,
      adapter,
      attention: request,
    });
    this._underWay.add(message, frame);
    return frame;
  }

  /**
   * Bytes of the longest answer that brings the attention over `positions` cached ones.
   * @param {number} positions @param {import('./attention.js').Wanted} wanted
   * @throws {ProtocolStateError | import('./errors.js').WireError} unsupported, attention_too_large
   */
  attentionRoom(positions, wanted) {
    const opened = this._opened;
    if (opened === null) throw new ProtocolStateError('attention needs an open session');
    const request = requestFor(opened, wanted);
    return frameLimit(this._hiddenSize, opened.maxRows) + (request && rowsBytes(opened, request, positions) || 0);
  }

  /**
   * Computes the digests of the rows sent last unless they are: call it while the answer is on its
   * way, and it costs no time.
   * @returns {Uint8Array[]}
   */
  digests() {
    return this._underWay.digests();
  }

  /**
   * The frame that ends the session, null when there is none; the session is forgotten.
   * @param {{keep?: boolean}} [options] keep false: the server deletes what it keeps of it
   */
  close({ keep = true } = {}) {
    const opened = this._opened;
    this.forget();
    return opened === null ? null : encodeMessage({ type: 'close', session: opened.session, keep });
  }

  /**
   * Takes one frame of the server.
   * @param {Uint8Array} bytes
   * @returns {Event}
   * @throws {import('./errors.js').WireError} on an untrue answer; then nothing has changed, and the
   *   caller ends the session with `open` or `forget`
   */
  receive(bytes) {
    const message = decodeServerMessage(bytes, this._limit());
    if (message.type === 'opened') return this._onOpened(message);
    if (message.type === 'result') return this._onResult(message);
    if (message.type === 'restored') return this._onRestored(message);
    if (message.type === 'error') return this._onFailure(message);
    return IGNORED;
  }

  _limit() {
    const step = this._underWay.next?.step;
    const rows = step ? returned(step.rows, step.embeddings.rows) : 1;
    const opened = this._opened;
    const request = step?.attention;
    const attended = opened && request ? rowsBytes(opened, request, step.start + step.embeddings.rows) : 0;
    return frameLimit(this._hiddenSize, rows) + attended;
  }

  /** @param {Opened} message @returns {Event} */
  _onOpened(message) {
    if (this._opened !== null || this._question === null) return IGNORED;
    checkOpened(message, this._manifest, this._dtype);
    this._opened = message;
    this._believe(message.cached, message.prefix);
    this._settle();
    return { type: 'opened', opened: message };
  }

  /** @param {Restored} message @returns {Event} */
  _onRestored({ session, start, known, cached, prefix }) {
    const asked = this._opened && this._asked;
    if (!asked || session !== this._opened?.session) return IGNORED;
    if (start !== asked.start || known !== asked.chain.length) return IGNORED;
    this._believe(cached, prefix);
    this._settle();
    return { type: 'restored', cached: this.cached };
  }

  /** @param {number} cached @param {Uint8Array} prefix what the server says that it holds */
  _believe(cached, prefix) {
    if (this._asked !== null) this._chain = this._asked.believed(cached, prefix);
  }

  /** @param {Result} message @returns {Event} */
  _onResult(message) {
    const answered = message.session === this._opened?.session ? this._underWay.find(message.step) : null;
    if (answered === null) return IGNORED;
    if (answered.early) throw new MalformedMessage('the answers come in another order than the steps');
    const { sent, digests } = answered;
    const { step } = sent;
    const { refused } = this._underWay;
    // Without a digest it does not tell whether those before it were appended.
    if (refused && !message.prefix.length) return this._failed(refused);
    // A number is used again after a failure; only the digest tells which rows this answers.
    if (message.prefix.length && !equal(message.prefix, digests[digests.length - 1])) return IGNORED;
    const hidden = checkedHidden(message, step, this._hiddenSize);
    const attention = this._told(message, step.attention);
    const steps = this._underWay.settle(sent);
    this._nextStep += steps;
    const { cached, computeUs, queueUs } = message;
    const inexact = inexactWithin(message.tiers, cached, cached);
    return { type: 'completed', hidden, cached, computeUs, queueUs, attention, steps, ...(inexact && { inexact }) };
  }

  /** @param {Result} message @param {import('./attention.js').AttentionRequest | null} request */
  _told({ attention, cached }, request) {
    return request && this._opened && toldRows(attention, this._opened, request, cached);
  }

  /** @param {Failure} message @returns {Event} */
  _onFailure(message) {
    if (!this._answersOutstanding(message)) return IGNORED;
    if (this._underWay.defer(message)) return { type: 'deferred' };
    // Where a step has no answer and neither has the one behind it, what was said first counts.
    return this._failed(this._underWay.refused ?? message);
  }

  /** @param {Failure} failure @returns {Event} */
  _failed(failure) {
    this._settle();
    return { type: 'failed', failure };
  }

  /**
   * Whether a failure is about the message whose answer comes next. One without a session or a step answers
   * bytes that the server could not read as a message (damaged, too large), and the outstanding ones
   * are all that the device has sent.
   * @param {Failure} message
   */
  _answersOutstanding({ session, step }) {
    if (this._question !== null) return session === null && step === null;
    const next = this._underWay.next?.step;
    if (!next) return false;
    return (session ?? next.session) === next.session && (step ?? next.step) === next.step;
  }

  /** Nothing is outstanding any more. */
  _settle() {
    this._question = null;
    this._asked = null;
    this._underWay = new UnderWay(this._chain);
  }
}
