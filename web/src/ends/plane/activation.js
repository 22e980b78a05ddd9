import { BLOCK } from './layout.js';

const LEVELS = 127;
// A block below this counts as zero: its step could lose digits to underflow.
const SMALLEST = 2 ** -100;

/**
 * Where the kernels expect an activation; x of every block of 64 is an int8 with the block's own step.
 *
 * @typedef {object} ActivationViews
 * @property {Int8Array} bytes x
 * @property {Int16Array} words x, of each eight columns 0, 2, 4, 6, 1, 3, 5, 7
 * @property {DataView} factors of each block the step (f32) and 8 * sum of x (i32), little-endian
 */

/**
 * Writes hidden * columns as small integers. A product that overflows makes its block's step infinite, and so
 * the estimates not finite.
 * @param {Float32Array} hidden @param {Float32Array} columns [blocks * 64], powers of two
 * @param {ActivationViews} views
 */
export function writeActivation(hidden, columns, views) {
  const scaled = new Float32Array(columns.length);
  for (let i = 0; i < hidden.length; i++) scaled[i] = hidden[i] * columns[i];
  for (let block = 0; block * BLOCK < scaled.length; block++) {
    const step = stepOf(scaled, block * BLOCK);
    views.factors.setFloat32(8 * block, step, true);
    views.factors.setInt32(8 * block + 4, 8 * writeBlock(scaled, block * BLOCK, step, views), true);
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
    bytes[start + i] = value;
    words[start + (i & ~7) + (i & 1) * 4 + ((i & 7) >> 1)] = value;
    sum += value;
  }
  return sum;
}
