// Rows of attention as whole numbers.
import { BrightnessInvalid } from '../errors.js';
import { MOST_POSITIONS, ONE } from './formula.js';

/** @typedef {import('./formula.js').Row} Row */
/** What of several rows counts: their mean, their maximum, or the mean in which those of layer k, from 1, count k times. @typedef {'mean' | 'maximum' | 'weighted' | 'last'} Mode */
/**
 * Rows of attention: `weights` [layers * heads, width], of `positions` (of the same shape) or of all.
 * @typedef {{layers: number, heads: number, weights: Float32Array, positions: Int32Array | null}} Weights
 */

// A softmax may end a little above 1.
const LARGEST = 1.001;

/**
 * Rows over `length` positions as one.
 * @param {Mode} mode @param {Weights} told @param {number} length @returns {Row}
 * @throws {BrightnessInvalid}
 */
export function rowOf(mode, { layers, heads, weights, positions }, length) {
  const rows = layers * heads;
  check({ layers, heads, weights, positions }, length);
  const shares = Array.from(weights, (weight) => Math.min(Math.floor(weight * ONE), ONE));
  if (rows === 1) return { positions: positions ?? allOf(length), shares, length };
  const joined = mode === 'maximum' ? largest(shares, positions, length) : mean(mode, shares, positions, { rows, heads, length });
  return { positions: allOf(length), shares: joined, length };
}

/** @param {number} length */
function allOf(length) {
  return Int32Array.from({ length }, (_, at) => at);
}

/** @param {number[]} shares @param {Int32Array | null} positions @param {number} length */
function largest(shares, positions, length) {
  const joined = new Float64Array(length);
  shares.forEach((share, i) => {
    const at = positions ? positions[i] : i % length;
    joined[at] = Math.max(joined[at], share);
  });
  return joined;
}

/**
 * @param {Mode} mode @param {number[]} shares @param {Int32Array | null} positions
 * @param {{rows: number, heads: number, length: number}} shape
 */
function mean(mode, shares, positions, { rows, heads, length }) {
  const width = shares.length / rows;
  const countOf = (/** @type {number} */ row) => (mode === 'weighted' ? Math.floor(row / heads) + 1 : 1);
  const sum = new Float64Array(length);
  shares.forEach((share, i) => (sum[positions ? positions[i] : i % length] += share * countOf(Math.floor(i / width))));
  const count = Array.from({ length: rows }, (_, row) => countOf(row)).reduce((all, each) => all + each, 0);
  return sum.map((share) => Math.floor(share / count));
}

/** @param {Weights} told @param {number} length */
function check({ layers, heads, weights, positions }, length) {
  const width = weights.length / (layers * heads);
  if (!(width >= 1 && Number.isInteger(width) && length >= 1 && length <= MOST_POSITIONS)) {
    throw new BrightnessInvalid('attention has at least one row over at least one position');
  }
  if (positions === null ? width !== length : positions.length !== weights.length) {
    throw new BrightnessInvalid('a row of attention is of another length than the context');
  }
  // NaN fails both comparisons.
  if (!weights.every((weight) => weight >= 0 && weight <= LARGEST)) {
    throw new BrightnessInvalid('weights of attention are numbers from 0 to 1');
  }
}
