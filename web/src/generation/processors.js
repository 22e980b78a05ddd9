import { TokenTable } from './token_table.js';

/** @typedef {import('../../types/gatelink.d.ts').SamplingParams} SamplingParams */

/**
 * Logit bias and penalties: changes of the logits of a few tokens, before any filter.
 *
 * In this order, in float64: bias is added; the repetition penalty (Keskar et al. 2019; the form of Hugging
 * Face) divides positive and multiplies negative logits of every token of prompt or reply; frequency and
 * presence penalties (OpenAI) are subtracted for tokens of the reply, the first for each time that the token
 * occurred there, the second once; forbidden tokens get -Infinity.
 *
 * A history that goes on from the last one costs what is new, apart from comparing the two.
 */
export class AffectedTokens {
  /**
   * Throws TokenIdOutOfRange.
   * @param {SamplingParams} params
   * @param {number} rows token ids are 0..rows-1
   * @param {Int32Array | null} forbidden ids that may not be chosen
   */
  constructor(params, rows, forbidden = null) {
    this._params = params;
    this._rows = rows;
    this._repeating = params.repetitionPenalty !== 1;
    this._counting = params.presencePenalty !== 0 || params.frequencyPenalty !== 0;
    this._lowering =
      params.repetitionPenalty >= 1 && params.presencePenalty >= 0 && params.frequencyPenalty >= 0;
    this._forbidden = forbidden ?? new Int32Array(0);
    const raised = [...params.logitBias].filter(([, bias]) => bias > 0).map(([token]) => token);
    this._pinned = Int32Array.from(new Set([...this._forbidden, ...raised]));
    this._table = this._started([]);
    /** @type {number[]} */
    this._prompt = [];
    /** @type {number[]} */
    this._reply = [];
  }

  /** Their ids, none twice; the same array as long as they are the same. */
  get ids() {
    return this._table.ids;
  }

  get size() {
    return this._table.size;
  }

  /** The first of `ids`: all whose logits may rise, and the forbidden. Those of the others can only fall. */
  get pinned() {
    return this._lowering ? this._pinned : this.ids;
  }

  /**
   * Makes it those after `prompt` and `generated`. Throws TokenIdOutOfRange.
   * @param {ArrayLike<number>} prompt
   * @param {ArrayLike<number>} generated
   */
  follow(prompt, generated) {
    if (!this._repeating && !this._counting) return;
    const watched = this._repeating ? prompt : [];
    const same = this._prompt.length === watched.length && begins(this._prompt, watched);
    if (!same || !begins(this._reply, generated)) {
      this._table = this._started(watched);
      this._prompt = Array.from(watched);
      this._reply = [];
    }
    for (let i = this._reply.length; i < generated.length; i++) this._generate(generated[i]);
  }

  /**
   * The logit of `ids[index]` after bias and penalties.
   * @param {number} index
   * @param {number} logit
   */
  adjust(index, logit) {
    // The pinned are entered first, and of them the forbidden.
    if (index < this._forbidden.length) return -Infinity;
    const { repetitionPenalty, frequencyPenalty, presencePenalty } = this._params;
    const { bias, seen, counts } = this._table;
    let changed = logit + bias[index];
    if (seen[index]) changed = changed < 0 ? changed * repetitionPenalty : changed / repetitionPenalty;
    changed -= counts[index] * frequencyPenalty;
    return counts[index] > 0 ? changed - presencePenalty : changed;
  }

  /**
   * The logit of any token after bias and penalties.
   * @param {number} token
   * @param {number} logit
   */
  adjustToken(token, logit) {
    const place = this._table.find(token);
    return place === undefined ? logit : this.adjust(place, logit);
  }

  /**
   * Logits after bias and penalties.
   * @param {Float32Array} logits of `ids`, or of the first of them
   * @returns {Float64Array}
   */
  adjusted(logits) {
    const changed = new Float64Array(logits.length);
    for (let i = 0; i < changed.length; i++) changed[i] = this.adjust(i, logits[i]);
    return changed;
  }

  /** What is affected before a reply begins. @param {ArrayLike<number>} prompt */
  _started(prompt) {
    const table = new TokenTable(this._rows);
    for (const token of this._pinned) table.place(token);
    for (const [token, bias] of this._params.logitBias) {
      const place = table.place(token);
      table.bias[place] = bias;
    }
    for (let i = 0; i < prompt.length; i++) {
      const place = table.place(prompt[i]);
      table.seen[place] = 1;
    }
    return table;
  }

  /** @param {number} token */
  _generate(token) {
    const place = this._table.place(token);
    this._table.counts[place] += 1;
    if (this._repeating) this._table.seen[place] = 1;
    this._reply.push(token);
  }
}

/** @param {number[]} start @param {ArrayLike<number>} tokens */
function begins(start, tokens) {
  if (start.length > tokens.length) return false;
  for (let i = 0; i < start.length; i++) if (start[i] !== tokens[i]) return false;
  return true;
}
