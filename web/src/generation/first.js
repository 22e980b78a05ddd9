import { joined, rank } from './ranking.js';

/** @typedef {import('../../types/gatelink.d.ts').LMHead} LMHead */
/** @typedef {import('../../types/gatelink.d.ts').TopLogits} TopLogits */
/** @typedef {import('./processors.js').AffectedTokens} AffectedTokens */
/** @typedef {import('./ranking.js').Ranked} Ranked */

// How many tokens beyond those wanted are asked for, to make up for lowered ones; a shortlist of the head
// covers them.
const SPARE = 64;
const MOST_SPARE = 1024;

/**
 * The first tokens by (-adjusted logit, id), exactly.
 *
 * A long history lowers thousands of tokens. Reading the rows of them all for each token would cost more than
 * the rest of the head, so only pinned tokens are asked for by name: a lowered one that is not among the
 * first by its own logit is not among them after it was lowered.
 */
export class FirstTokens {
  /** @param {LMHead} head @param {AffectedTokens} affected */
  constructor(head, affected) {
    this._head = head;
    this._affected = affected;
    this._spare = SPARE;
  }

  /**
   * The first `k`, fewer where there are fewer.
   * @param {Float32Array} hidden
   * @param {number} k
   * @returns {Promise<Ranked>}
   */
  async find(hidden, k) {
    const { pinned, size } = this._affected;
    const limit = Math.min(k, this._head.rows);
    const spare = Math.min(size - pinned.length, this._spare);
    const top = await this._head.top(hidden, limit + spare, pinned);
    const ranked = this._ranked(top, limit);
    const isWhole = top.ids.length < limit + spare;
    if (isWhole || endsWithin(ranked, top)) return ranked;
    this._spare = Math.min(4 * this._spare, MOST_SPARE);
    return this._named(hidden, limit);
  }

  /** @param {TopLogits} top outside the pinned @param {number} k @returns {Ranked} */
  _ranked(top, k) {
    const affected = this._affected;
    const [ids, logits] = joined(top, affected.pinned, affected.adjusted(top.alsoLogits));
    for (let i = 0; i < top.ids.length; i++) logits[i] = affected.adjustToken(ids[i], logits[i]);
    return rank(ids, logits, k);
  }

  /**
   * By the name of every affected token.
   * @param {Float32Array} hidden
   * @param {number} k
   */
  async _named(hidden, k) {
    const { ids } = this._affected;
    const top = await this._head.top(hidden, k, ids);
    return rank(...joined(top, ids, this._affected.adjusted(top.alsoLogits)), k);
  }
}

/**
 * Whether all of `ranked` come before whatever `top` does not list: that comes after the last of `top` by its
 * own logit, and is lowered at most.
 * @param {Ranked} ranked
 * @param {TopLogits} top
 */
function endsWithin(ranked, top) {
  const last = ranked.ids.length - 1;
  const end = top.ids.length - 1;
  const [logit, bound] = [ranked.logits[last], top.logits[end]];
  return logit > bound || (logit === bound && ranked.ids[last] <= top.ids[end]);
}
