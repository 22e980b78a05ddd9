// Sampling without top-k from the first candidates alone, where that changes nothing: their weights are
// exact, that of all others is known within bounds, and the draw is made with the lowest and the highest
// possible total. Where both end at the same candidate of the same kept prefix, so does the computation over
// the whole vocabulary.
import { countReaching, cumulated, firstExceeding, firstReaching, pick, tempered, total } from './filters.js';
import { only, rankedThrough } from './ranking.js';

/** @typedef {import('../../types/gatelink.d.ts').TopLogits} TopLogits */
/** @typedef {import('../../types/gatelink.d.ts').Interval} Interval */
/** @typedef {import('../../types/gatelink.d.ts').SamplingParams} SamplingParams */
/** @typedef {{index: number, kept: number}} Outcome the index drawn; how many are kept, 0 for all */

// How many candidates are tried before all logits are computed, where no top-k limits them.
export const PREFIX = 256;
const ROUNDING = 2 ** -32; // of a float64 sum over up to 2^20 tokens, relative

/**
 * The draw `u` without top-k, or null where only all logits can tell.
 * @param {TopLogits} top the first outside the affected tokens
 * @param {Int32Array} affectedIds
 * @param {Float64Array} affectedLogits after bias and penalties
 * @param {Interval} rest bounds of the weight of all others, relative to the first of `top`
 * @param {SamplingParams} params
 * @param {number} u
 * @param {Uint8Array | null} allowed mask [rows] of the only tokens that take part; null: all do
 * @returns {{token: number, probability: number} | null}
 */
export function drawFromPrefix(top, affectedIds, affectedLogits, rest, params, u, allowed = null) {
  if (top.ids.length === 0) return null;
  let { ranked, behind } = rankedThrough(top, affectedIds, affectedLogits);
  if (allowed !== null) [ranked, behind] = [only(ranked, allowed), only(behind, allowed)];
  if (ranked.ids.length === 0) return null;
  const { temperature } = params;
  const first = ranked.logits[0];
  const weights = tempered(ranked.logits, temperature);
  let known = total(weights);
  for (const logit of behind.logits) known += Math.exp((logit - first) / temperature);
  const unit = Math.exp((top.logits[0] - first) / temperature);
  // Any part of the rest may be allowed, none of it included.
  const low = (known + (allowed === null ? rest.low * unit : 0)) * (1 - ROUNDING);
  const high = (known + rest.high * unit) * (1 + ROUNDING);
  const drawn = same(outcome(weights, low, params, u), outcome(weights, high, params, u));
  if (drawn === null) return null;
  const sum = drawn.kept ? total(weights, drawn.kept) : (low + high) / 2;
  return { token: ranked.ids[drawn.index], probability: weights[drawn.index] / sum };
}

/** @param {Outcome | null} a @param {Outcome | null} b */
function same(a, b) {
  return a !== null && b !== null && a.index === b.index && a.kept === b.kept ? a : null;
}

/**
 * What a draw ends at, given the total weight of the vocabulary; null where that lies beyond `weights`.
 * @param {Float64Array} weights [n] of the first of all by rank
 * @param {number} sum
 * @param {SamplingParams} params
 * @param {number} u
 * @returns {Outcome | null}
 */
function outcome(weights, sum, params, u) {
  if (params.topP === 1 && params.minP === 0) {
    const index = firstExceeding(cumulated(weights), u * sum);
    return index < weights.length ? { index, kept: 0 } : null;
  }
  let kept = weights.length + 1;
  if (params.topP < 1) kept = firstReaching(cumulated(weights), params.topP * sum) + 1;
  if (params.minP > 0) {
    const reaching = countReaching(weights, params.minP * weights[0]);
    if (reaching < weights.length) kept = Math.min(kept, reaching);
  }
  return kept > weights.length ? null : { index: pick(weights.subarray(0, kept), u), kept };
}
