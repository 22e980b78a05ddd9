// A sequence that looks ahead: one step brings the states of several tokens, of which the last are a guess.
// Python has one as well (device_client/split_client/generation/speculation/lookahead.py).

/** @typedef {import('../loop.js').Extended} Extended */
/** @typedef {import('../loop.js').Wished} Wished */
/** @typedef {import('./drafts.js').Draft} Draft */
/** @typedef {import('./drafts.js').StepCost} StepCost */
/**
 * What is needed of session/sequence.js.
 * @typedef {object} Caching
 * @property {number} cached positions that the server is believed to hold
 * @property {{steps: number, resends: number}} counters of all that it has done
 * @property {string | null} adapter that the server applies to the states
 * @property {boolean} [reachable]
 * @property {(tokens: number[]) => number} shared how many of the first of them are cached
 * @property {(options: {signal?: AbortSignal}) => Promise<number>} maxContext
 * @property {(options: {signal?: AbortSignal}) => Promise<number>} interactiveRows with so many rows a step still
 *   goes before a prefill
 * @property {(tokens: number[], options: {signal?: AbortSignal, rows: number}) =>
 *   Promise<Extended & {states: Float32Array, exchange: number}>} cache `states`: float32 [rows, H] after the last
 *   `rows` of the tokens, which are a draft but for the first of them
 */
/**
 * What is needed of a drafter.
 * @typedef {object} Drafting
 * @property {(tokens: number[], most: number, permitted: Wished['permitted']) => Draft | Promise<Draft>} draft
 * @property {(cost: StepCost) => void} stepped
 * @property {(draft: Draft, accepted: number) => void} judged
 * @property {(seconds: number) => void} head
 * @property {(prompt: number[], reply: number[]) => void} replied
 */
/**
 * What a step brought: state i comes after the first `first + i` of `tokens`. `used`: up to which state was asked for.
 * `steps`: those of the sequence by then; after another one its cache holds something else.
 * @typedef {{tokens: number[], first: number, states: Float32Array, width: number, used: number,
 *   draft: Draft | null, adapter: string | null, steps: number}} Held
 */

// Steps with more rows are prefills, whose cost says nothing about drafts.
const MOST_ROWS_TIMED = 64;
// However many rows a server names: a longer guess costs more to make than it is worth.
const MOST_DRAFTED = 63;
const ANSWERED = { rows: 0, drafted: 0, compute: 0, queue: 0, wire: 0 };

/**
 * Answers like a sequence: with the state after exactly the tokens that it is asked for. It comes from a step that was
 * made before where that had these tokens, else from a step that carries a draft behind them. So what is chosen is
 * what would be chosen without drafts, whatever they hold. For one reply.
 */
export class Lookahead {
  /** @param {Caching} sequence @param {Drafting | null} [drafter] null: no drafts */
  constructor(sequence, drafter = null) {
    this._sequence = sequence;
    this._drafter = drafter;
    /** @type {Held | null} */
    this._held = null;
    /** Tokens that were drafted, and of those the ones that saved a step. */
    this.figures = { drafted: 0, accepted: 0 };
  }

  get reachable() {
    return this._sequence.reachable ?? true;
  }

  /** @param {{signal?: AbortSignal}} options */
  maxContext(options) {
    return this._sequence.maxContext(options);
  }

  /**
   * The state after the last of `tokens`. Throws what the sequence throws.
   * @param {number[]} tokens @param {Wished} wished
   * @returns {Promise<Extended>}
   */
  async extend(tokens, { signal, sure = [], most = 0, permitted = null }) {
    const known = this._known(tokens);
    if (known !== null) return known;
    this._judge(tokens);
    const draft = sure.length ? null : await this._draft(tokens, most, permitted, signal);
    const ahead = draft?.tokens ?? sure;
    const all = ahead.length ? tokens.concat(ahead) : tokens;
    const { resends } = this._sequence.counters;
    const extended = await this._sequence.cache(all, { signal, rows: ahead.length + 1 });
    // What a lost cache took says nothing of the next step.
    if (this._sequence.counters.resends === resends) this._stepped(extended, ahead.length + 1);
    if (ahead.length) this._keep(all, tokens.length, draft, extended);
    const { hidden, rows, compute, queue, wire } = extended;
    const drafted = draft?.tokens.length ?? 0;
    return { hidden: this._held ? stateAt(this._held, 0) : hidden, rows, drafted, compute, queue, wire };
  }

  /** @param {number} seconds that one choice took */
  chose(seconds) {
    this._drafter?.head(seconds);
  }

  /** The reply has ended. @param {number[]} prompt @param {number[]} reply all that was chosen */
  ended(prompt, reply) {
    this._judge([...prompt, ...reply]);
    this._drafter?.replied(prompt, reply);
  }

  /** @param {number[]} tokens @returns {Extended | null} from an earlier step */
  _known(tokens) {
    const held = this._held;
    if (held === null || !this._stands(held)) return null;
    const index = tokens.length - held.first;
    if (index < 0 || tokens.length > held.tokens.length || !isBeginning(tokens, held.tokens)) return null;
    if (held.draft && index > held.used) this.figures.accepted += index - held.used;
    held.used = Math.max(held.used, index);
    return { hidden: stateAt(held, index), ...ANSWERED };
  }

  /** Whether the cache still is what that step left, and states are made as it was. @param {Held} held */
  _stands({ adapter, steps }) {
    const { counters, cached } = this._sequence;
    return counters.steps === steps && cached > 0 && adapter === this._sequence.adapter;
  }

  /**
   * Tells what became of the latest draft; what was not reached is not counted.
   * @param {number[]} tokens which were chosen, with their prompt
   */
  _judge(tokens) {
    const held = this._held;
    this._held = null;
    if (!held?.draft) return;
    const { draft, first } = held;
    const reached = Math.min(draft.tokens.length, tokens.length - first);
    let accepted = 0;
    while (accepted < reached && draft.tokens[accepted] === tokens[first + accepted]) accepted++;
    const judged = accepted < reached ? draft.tokens : draft.tokens.slice(0, accepted);
    if (judged.length) this._drafter?.judged({ ...draft, tokens: judged }, accepted);
  }

  /**
   * @param {number[]} tokens @param {number} most @param {Wished['permitted']} permitted
   * @param {AbortSignal | undefined} signal
   * @returns {Promise<Draft | null>} null: none
   */
  async _draft(tokens, most, permitted, signal) {
    // What a session may hold is asked together with what it holds already, by the first step.
    if (this._drafter === null || this._sequence.cached === 0) return null;
    const cached = Math.min(this._sequence.shared(tokens), tokens.length - 1);
    const room = (await this._sequence.maxContext({ signal })) - tokens.length;
    const rows = (await this._sequence.interactiveRows({ signal })) - (tokens.length - cached);
    const draft = await this._drafter.draft(tokens, Math.max(0, Math.min(most, room, rows, MOST_DRAFTED)), permitted);
    return draft.tokens.length ? draft : null;
  }

  /** @param {Extended & {exchange: number}} extended @param {number} returned states */
  _stepped({ rows, exchange, compute, queue }, returned) {
    if (rows > 0 && rows <= MOST_ROWS_TIMED) {
      this._drafter?.stepped({ rows, returned, seconds: exchange, compute, queue });
    }
  }

  /** @param {number[]} tokens @param {number} first @param {Draft | null} draft @param {{states: Float32Array}} extended */
  _keep(tokens, first, draft, { states }) {
    const width = states.length / (tokens.length - first + 1);
    const { adapter, counters } = this._sequence;
    this._held = { tokens, first, states, width, used: 0, draft, adapter, steps: counters.steps };
    this.figures.drafted += draft?.tokens.length ?? 0;
  }
}

/** @param {Held} held @param {number} index @returns {Float32Array} [H], whose memory is its own */
function stateAt({ states, width }, index) {
  return states.slice(index * width, (index + 1) * width);
}

/** @param {number[]} tokens no longer than `all` @param {number[]} all */
function isBeginning(tokens, all) {
  for (let i = tokens.length - 1; i >= 0; i--) if (tokens[i] !== all[i]) return false;
  return true;
}
