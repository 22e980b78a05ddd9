// Which token comes next in a reply: the one that its form forces, else one that is chosen from a state.

/** @typedef {import('../loop.js').Extending} Extending */
/** @typedef {import('../loop.js').Choosing} Choosing */
/** @typedef {import('../loop.js').Constraint} Constraint */
/** @typedef {import('../loop.js').Extended} Extended */
/** @typedef {import('../loop.js').TokenLogprobs} TokenLogprobs */
/** @typedef {import('../grace.js').Grace} Grace */
/**
 * `extended`: the step that brought it; nothing was sent for a token that is forced.
 * @typedef {{token: number, probability: number, forced: boolean, extended: Extended,
 *   logprobs: TokenLogprobs | null}} Next
 */

const UNSENT = { hidden: new Float32Array(), rows: 0, drafted: 0, compute: 0, queue: 0, wire: 0 };

/** Of one reply. */
export class NextToken {
  /**
   * @param {Extending} sequence @param {Choosing} sampler
   * @param {{constraint: Constraint | null, logprobs: number | null, maxTokens: number, clock: () => number}} options
   */
  constructor(sequence, sampler, { constraint, logprobs, maxTokens, clock }) {
    this._sequence = sequence;
    this._sampler = sampler;
    this._constraint = constraint;
    this._logprobs = logprobs;
    this._maxTokens = maxTokens;
    this._clock = clock;
    // What is told of each token comes from the state before it.
    this._stated = logprobs !== null || (sequence.eachRow ?? false);
    /** Tokens that come next whatever is chosen. @type {number[]} */
    this._forced = [];
  }

  /**
   * Throws the errors of sequence, sampler and constraint.
   * @param {number[]} tokens prompt and generated @param {number[]} prompt @param {number[]} generated
   * @param {Grace} grace
   * @returns {Promise<Next | null>} null: broken off
   */
  async after(tokens, prompt, generated, grace) {
    if (this._constraint && !(await this._force(tokens, generated.length, grace))) return null;
    const forced = this._forced.length > 0;
    const extended = forced && !this._stated ? UNSENT : await this._extended(tokens, generated.length, grace);
    if (extended === null) return null;
    const { token, probability } = forced
      ? { token: this._forced[0], probability: 1 }
      : await this._chosen(extended, tokens, prompt, generated, grace);
    this._forced.shift();
    await this._constraint?.accept(token);
    return { token, probability, forced, extended, logprobs: await this._logprobsOf(extended.hidden, token) };
  }

  /**
   * Learns which tokens are forced, unless some are known.
   * @param {number[]} tokens @param {number} count of the reply @param {Grace} grace
   * @returns {Promise<boolean>} false: broken off
   */
  async _force(tokens, count, grace) {
    if (this._forced.length) return true;
    const left = await grace.unlessOver(this._left(tokens, count, grace));
    if (left === null) return false;
    // Where the prompt is too long already, the sequence says so.
    const forced = left > 0 ? ((await this._constraint?.forced(left)) ?? []) : [];
    this._forced = this._unbanned(forced.slice(0, left));
    return true;
  }

  /** Those before the first that the sampler must not choose, which it refuses itself. @param {number[]} forced */
  _unbanned(forced) {
    const end = forced.findIndex((token) => this._sampler.params?.banned.has(token));
    return end < 0 ? forced : forced.slice(0, end);
  }

  /**
   * How many tokens the reply may still have, the next one included; opens the session. The last one needs no
   * position.
   * @param {number[]} tokens @param {number} count @param {Grace} grace
   */
  async _left(tokens, count, grace) {
    const room = (await this._sequence.maxContext({ signal: grace.signal })) + 1 - tokens.length;
    return Math.min(this._maxTokens - count, room);
  }

  /** @param {number[]} tokens @param {number} count @param {Grace} grace */
  async _extended(tokens, count, grace) {
    const { _constraint: constraint, _forced: forced } = this;
    const most = this._maxTokens - count - 1;
    // Behind the last token that the reply may have, no state is asked for.
    const sure = forced.length ? forced.slice(0, (await this._left(tokens, count, grace)) - 1) : [];
    const permitted = constraint && (async (/** @type {readonly number[]} */ draft) =>
      constraint.permitted(draft, await this._left(tokens, count, grace)));
    return grace.unlessOver(this._sequence.extend(tokens, { signal: grace.signal, sure, most, permitted }));
  }

  /**
   * @param {Extended} extended @param {number[]} tokens @param {number[]} prompt @param {number[]} generated
   * @param {Grace} grace
   */
  async _chosen({ hidden }, tokens, prompt, generated, grace) {
    const count = generated.length;
    const left = this._constraint ? await this._left(tokens, count, grace) : 0;
    const allowed = (await this._constraint?.allowed(left)) ?? null;
    if (!this._sequence.chose) return this._sampler.choose(hidden, prompt, generated, count, allowed);
    const began = this._clock();
    const choice = await this._sampler.choose(hidden, prompt, generated, count, allowed);
    this._sequence.chose(this._clock() - began);
    return choice;
  }

  /**
   * Few replies ask for them, so their code is loaded by the first that does.
   * @param {Float32Array} hidden @param {number} token @returns {Promise<TokenLogprobs | null>}
   */
  async _logprobsOf(hidden, token) {
    if (this._logprobs === null) return null;
    const { tokenLogprobs } = await import('../logprobs.js');
    return tokenLogprobs(this._sampler.head, hidden, token, this._logprobs);
  }
}
