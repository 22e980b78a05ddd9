import { BLOCK } from './layout.js';

const LEVELS = 127;
// A block below this counts as zero: its step could lose digits to underflow.
const SMALLEST = 2 ** -100;

/**
 * Where the kernels expect an activation; x of every block of 64 is an int8 with the block's own step.
 *
 * @typedef {object} ActivationViews
 * @property {Int8Array} bytes of each 32 columns the even ones, then the odd ones
 * @property {Int16Array} words of each 32 columns those with the same rest modulo 4 together
 * @property {Float32Array} factors the steps [blocks filled up to eights], then 8 * sum of x, as many
 */

/**
 * Writes hidden * columns as small integers. A product that overflows makes its block's step infinite, and so
 * the estimates not finite.
 * @param {Float32Array} hidden @param {Float32Array} columns [blocks * 64], powers of two
 * @param {ActivationViews} views
 */
export function writeActivation(hidden, columns, views) {
  views.factors.fill(0);
  const half = views.factors.length / 2;
  const scaled = new Float32Array(columns.length);
  for (let i = 0; i < hidden.length; i++) scaled[i] = hidden[i] * columns[i];
  for (let block = 0; block * BLOCK < scaled.length; block++) {
    const step = stepOf(scaled, block * BLOCK);
    views.factors[block] = step;
    views.factors[half + block] = 8 * writeBlock(scaled, block * BLOCK, step, views);
  }
}

/** @param {Float32Array} scaled @param {number} start */
function stepOf(scaled, start) {
  let peak = 0;
  for (let i = start; i < start + BLOCK; i++) peak = Math.max(peak, Math.abs(scaled[i]));
  return peak < SMALLEST ? 0 : Math.fround(peak / LEVELS);
}

/**
 * One block; returns the sum of its integers.
 * @param {Float32Array} scaled @param {number} start @param {number} step @param {ActivationViews} views
 */
function writeBlock(scaled, start, step, { bytes, words }) {
  const inverse = step > 0 && step < Infinity ? 1 / step : 0;
  let sum = 0;
  for (let i = 0; i < BLOCK; i++) {
    const value = Math.max(-LEVELS, Math.min(LEVELS, Math.round(scaled[start + i] * inverse))) || 0;
    const group = start + (i & 32);
    const within = i & 31;
    bytes[group + (within & 1) * 16 + (within >> 1)] = value;
    words[group + (within & 3) * 8 + (within >> 2)] = value;
    sum += value;
  }
  return sum;
}
