import { kthLargest, rank } from './ranking.js';
import { finishBiased, lowestRival } from './spec.js';

/** @typedef {import('./shard_head.js').Shortlist} Shortlist */
/** @typedef {import('./spec.js').Spec} Spec */
/** @typedef {import('../../types/gatelink.js').Interval} Interval */

const ERRORS_APART = 4;
/** Every row of the tail is taken to miss by this many errors, all to one side. */
const ERRORS_OF_TAIL = 2;
/** Room for float32 exponentials; those that underflow weigh less than 2^-149 each. */
const WEIGHT_SLACK = 2 ** -10;
const UNDERFLOW = 2 ** -110;

/**
 * Root mean square distance of exact products from their estimates over the shortlists of all shards.
 * @param {Shortlist[]} lists
 */
export function errorOf(lists) {
  const count = lists.reduce((sum, list) => sum + list.rows.length, 0);
  return Math.sqrt(lists.reduce((sum, list) => sum + list.squares, 0) / count);
}

/**
 * Indices of the shards whose shortlist does not stand apart: whatever ranks with the k-th has to lie four
 * errors above all estimates left out.
 * @param {Shortlist[]} lists @param {number} k @param {Spec} spec
 */
export function tooShort(lists, k, spec) {
  const biased = concatenated(lists.map((list) => list.biased));
  if (biased.length < k) return lists.map((_, i) => i).filter((i) => lists[i].leftOut > -Infinity);
  // A saturated cap makes ties of distant rows, and ties rank by id.
  const lowestWanted = lowestRival(spec, kthLargest(biased, k));
  const apart = ERRORS_APART * errorOf(lists);
  return lists.flatMap(({ leftOut }, i) => (lowestWanted - leftOut > apart ? [] : [i]));
}

/**
 * All rows of the shortlists, ranked.
 * @param {Shortlist[]} lists @param {number[]} firsts id of each shard's first row @param {Spec} spec
 */
export function ranked(lists, firsts, spec) {
  const ids = new Int32Array(lists.reduce((sum, list) => sum + list.rows.length, 0));
  let at = 0;
  lists.forEach(({ rows }, i) => rows.forEach((row) => (ids[at++] = firsts[i] + row)));
  return rank(ids, finishBiased(spec, concatenated(lists.map((list) => list.biased))));
}

/**
 * An interval for the sum of exp((logit - first logit) / temperature) over all but the first `k`: those of
 * the shortlists exactly, the others as the estimates give it, and as if they all missed by twice their error
 * to one side. A cap only brings logits together, so it is left out of that.
 * @param {Shortlist[]} lists @param {Float32Array} logits ranked @param {number} k @param {number} factor
 * @param {number} temperature
 * @returns {Interval}
 */
export function restWeight(lists, logits, k, factor, temperature) {
  const first = logits[0];
  let beyond = 0;
  for (const logit of logits.subarray(k)) beyond += Math.exp((logit - first) / temperature);
  let estimated = 0;
  for (const { rest, reference } of lists) {
    // A shard without anything left out has no weight, whatever its reference.
    if (rest > 0) estimated += rest * Math.exp((reference - first) / temperature);
  }
  const doubt = Math.exp((ERRORS_OF_TAIL * errorOf(lists) * factor) / temperature);
  const high = estimated > 0 ? estimated * doubt : 0;
  return {
    low: (estimated / doubt + beyond) * (1 - WEIGHT_SLACK),
    high: (high + beyond) * (1 + WEIGHT_SLACK) + UNDERFLOW,
  };
}

/** @param {Float32Array[]} parts */
export function concatenated(parts) {
  const whole = new Float32Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}
