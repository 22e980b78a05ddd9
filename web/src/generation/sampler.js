// Choosing the next token of a hidden state: LM head, penalties, filters, one seeded draw.
import { TokenIdOutOfRange } from './errors.js';
import { keptWeights, pick, total } from './filters.js';
import { FirstTokens } from './first.js';
import { firstMembers } from './members.js';
import { PREFIX, drawFromPrefix } from './prefix.js';
import { AffectedTokens } from './processors.js';
import { TokenSet } from './token_set.js';
import { randomSeed, uniform } from './uniform.js';
import { drawFromAll } from './whole.js';

/** @typedef {import('../../types/gatelink.d.ts').LMHead} LMHead */
/** @typedef {import('../../types/gatelink.d.ts').SamplingParams} SamplingParams */
/** @typedef {import('./ranking.js').Ranked} Ranked */

/**
 * The token and its probability among the candidates that the filters kept (1 when greedy). Without any
 * filter the total weight is known within the head's bounds only, and so is the probability.
 * @typedef {{token: number, probability: number}} Choice
 */

export class Sampler {
  /**
   * Throws TokenIdOutOfRange for a token of `banned` or `logitBias` that the head does not have,
   * NothingAllowed when all are banned.
   * @param {LMHead} head
   * @param {SamplingParams} params checked by `paramsFrom`
   */
  constructor(head, params) {
    this.head = head;
    /** The one given, or drawn at random. @type {bigint} */
    this.seed = params.seed ?? randomSeed();
    this.params = { ...params, seed: this.seed };
    for (const token of params.logitBias.keys()) {
      if (token >= head.rows) throw new TokenIdOutOfRange(token, head.rows);
    }
    this._permitted = params.banned.size ? TokenSet.without(params.banned, head.rows) : null;
    this._affected = new AffectedTokens(this.params, head.rows, this._permitted?.others ?? null);
    this._first = new FirstTokens(head, this._affected);
  }

  /**
   * The token after `prompt` and `generated`; the same history, state and index give the same one. One call
   * at a time. Throws TokenIdOutOfRange, NothingAllowed and the head's errors.
   * @param {Float32Array} hidden final hidden state [hidden size]
   * @param {ArrayLike<number>} prompt
   * @param {ArrayLike<number>} generated
   * @param {number} drawIndex which draw of the seed this is
   * @param {Uint8Array | null} [allowed] mask [rows], nothing outside it takes part; null: every token may
   * @returns {Promise<Choice>}
   */
  async choose(hidden, prompt, generated, drawIndex, allowed = null) {
    const among = this._among(allowed);
    this._affected.follow(prompt, generated);
    if (among !== null) return this._chosenAmong(among, hidden, drawIndex);
    if (this.params.temperature === 0) return greedy(await this._first.find(hidden, 1));
    const u = uniform(this.seed, drawIndex);
    if (this.params.topK === 0) return this._unlimited(hidden, u, null);
    return this._drawn(await this._first.find(hidden, this.params.topK), u);
  }

  /**
   * The set that a choice is made from; null: every token but those that are forbidden anyway.
   * @param {Uint8Array | null} allowed
   */
  _among(allowed) {
    const permitted = this._permitted;
    if (allowed !== null) return permitted?.within(allowed) ?? new TokenSet(allowed);
    return permitted?.others ? null : permitted;
  }

  /**
   * @param {TokenSet} among few, or many
   * @param {Float32Array} hidden @param {number} drawIndex
   */
  async _chosenAmong(among, hidden, drawIndex) {
    const { temperature, topK } = this.params;
    if (temperature === 0) return greedy(await firstMembers(this.head, hidden, this._affected, among, 1));
    const u = uniform(this.seed, drawIndex);
    if (among.members === null && topK === 0) return this._unlimited(hidden, u, among.mask);
    const limit = topK || this.head.rows;
    return this._drawn(await firstMembers(this.head, hidden, this._affected, among, limit), u);
  }

  /**
   * A draw without top-k from all tokens, or from those that `mask` allows.
   * @param {Float32Array} hidden
   * @param {number} u
   * @param {Uint8Array | null} mask
   * @returns {Promise<Choice>}
   */
  async _unlimited(hidden, u, mask) {
    const { head, params, _affected: affected } = this;
    const found = await head.topAndRest(hidden, PREFIX, params.temperature, affected.ids);
    if (found !== null) {
      const changed = affected.adjusted(found.top.alsoLogits);
      const drawn = drawFromPrefix(found.top, affected.ids, changed, found.rest, params, u, mask);
      if (drawn !== null) return drawn;
    }
    const own = await head.logits(hidden);
    const logits = Float64Array.from(own);
    affected.ids.forEach((id, index) => (logits[id] = affected.adjust(index, own[id])));
    if (mask !== null) for (let id = 0; id < logits.length; id++) if (!mask[id]) logits[id] = -Infinity;
    return drawFromAll(logits, params, u);
  }

  /** @param {Ranked} ranked @param {number} u @returns {Choice} */
  _drawn(ranked, u) {
    const weights = keptWeights(ranked.logits, this.params);
    const index = pick(weights, u);
    return { token: ranked.ids[index], probability: weights[index] / total(weights) };
  }
}

/** @param {Ranked} ranked @returns {Choice} */
function greedy(ranked) {
  return { token: ranked.ids[0], probability: 1 };
}
