// Steps that follow each other, of which several may be under way.
import { frameLimit } from '../protocol/limits.js';
import { rowsFor } from '../protocol/steps/returned.js';
import { Cancelled } from '../transport/errors.js';
import { CacheLost } from './errors.js';

/** @typedef {import('./backend.js').StepOutput} StepOutput */
/** @typedef {import('../transport/flight.js').Flight} Flight */
/**
 * A step that is still to be made: the states of the last `rows` of its rows come back, and with `attention` what the
 * last one attends to. `embeddings`: [stop - start, H], asked for once, when the step is about to leave; `needed`:
 * whether anybody looks at its states.
 * @typedef {{start: number, stop: number, rows: number, attention: import('../protocol/attention.js').Wanted, needed?: boolean,
 *   embeddings: () => Promise<Float32Array>}} Plan
 */
/**
 * several: whether more than one may be under way at present; answered: called for each step, in order; a step whose
 * answer the server no longer keeps has no states.
 * @typedef {{adapter: string | null, signal: AbortSignal, clock: () => number,
 *   several: () => boolean, answered: (output: StepOutput) => void}} Options
 */

const NO_STATES = new Float32Array(0);

export class Prefill {
  /**
   * @param {import('../transport/channel.js').Channel} channel
   * @param {import('../protocol/client.js').ClientProtocol} protocol of an open session
   * @param {import('./asking.js').Asking} asking
   * @param {import('./window.js').Window} window
   * @param {Options} options
   */
  constructor(channel, protocol, asking, window, options) {
    this._channel = channel;
    this._protocol = protocol;
    this._asking = asking;
    this._window = window;
    this._options = options;
    /** The first of the plans that have no answer. */
    this._next = 0;
    /** Rows of those that were made, until their step is answered. @type {Map<Plan, Float32Array>} */
    this._made = new Map();
    /** Whether the step whose answer comes next had nothing in front of it. */
    this._alone = true;
    /** Since when there is nothing but that answer to wait for, in seconds. @type {number | null} */
    this._since = null;
  }

  /**
   * Until all steps are answered that are under way, and then all `plans`.
   * @param {Plan[]} plans
   * @returns {Promise<void>}
   * @throws {import('./errors.js').CacheLost | import('../common/errors.js').AppError} as RemoteBackend.prefill
   */
  async run(plans) {
    // Of steps that were under way before, no plan is known.
    this._next = -this._protocol.stepping;
    await this._asking.until((flight) => this._fly(flight, plans), this._options.signal);
  }

  /** @param {Flight} flight @param {Plan[]} plans */
  async _fly(flight, plans) {
    // A server that refuses a step refuses those behind it, and one without a plan is not made anew.
    if (!this._protocol.stepping) this._next = Math.max(0, this._next);
    for (const frame of this._protocol.unanswered) flight.push(frame);
    this._alone = true;
    while (this._next < plans.length) {
      await this._launch(flight, plans);
      await this._take(flight, plans);
    }
  }

  /** Sends as many steps as may be under way. @param {Flight} flight @param {Plan[]} plans */
  async _launch(flight, plans) {
    for (;;) {
      const plan = plans[this._next + this._protocol.stepping];
      if (!plan || (this._protocol.stepping && !this._fits(plans, plan))) return;
      const frame = await this._frameOf(plan);
      this._since ??= this._options.clock();
      flight.push(frame);
    }
  }

  /** Whether `plan` may be under way behind others. @param {Plan[]} plans @param {Plan} plan */
  _fits(plans, plan) {
    // A step behind another one may be all that a server answers after a lost connection.
    const inFront = plans[this._next + this._protocol.stepping - 1];
    if (inFront?.needed || !this._options.several()) return false;
    return this._protocol.stepping < this._window.size(plan.stop - plan.start);
  }

  /** @param {Plan} plan */
  async _frameOf(plan) {
    const embeddings = this._made.get(plan) ?? (await plan.embeddings());
    this._made.set(plan, embeddings);
    if (this._options.signal.aborted) throw new Cancelled();
    // The session was ended meanwhile.
    if (this._protocol.opened === null) throw new CacheLost();
    const { start, stop, attention } = plan;
    this._channel.accept(frameLimit(embeddings.length / (stop - start), plan.rows));
    const rows = rowsFor(plan.rows, stop - start);
    return this._protocol.step(start, embeddings, { rows, adapter: this._options.adapter, attention });
  }

  /** @param {Flight} flight @param {Plan[]} plans */
  async _take(flight, plans) {
    const event = await this._asking.answer(flight);
    if (event.type === 'deferred') return;
    if (event.type !== 'completed') throw this._asking.untrue('the answer to a step is not its result');
    const { hidden, computeUs, queueUs, attention, inexact = 0 } = event;
    const output = { hidden, computeUs, queueUs, exchangeUs: this._exchangeUs(), attention, ...(inexact && { inexact }) };
    for (let early = 1; early < event.steps; early++) this._answered(plans, { ...NOTHING });
    const plan = plans[this._next];
    if (plan && this._alone) this._window.told(plan.stop - plan.start, output);
    this._alone = this._protocol.stepping === 0;
    this._answered(plans, output);
  }

  /** From when a step was sent, or the one before it was answered. */
  _exchangeUs() {
    const now = this._options.clock();
    const began = this._since ?? now;
    this._since = this._protocol.stepping ? now : null;
    return Math.round(1e6 * (now - began));
  }

  /** @param {Plan[]} plans @param {StepOutput} output */
  _answered(plans, output) {
    const plan = plans[this._next];
    if (plan) this._made.delete(plan);
    this._next += 1;
    this._options.answered(output);
  }
}

/** @type {StepOutput} */
const NOTHING = { hidden: NO_STATES, computeUs: 0, queueUs: 0, exchangeUs: 0, attention: null };
