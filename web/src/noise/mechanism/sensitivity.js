// The largest distance between two rows of a clipped table.
import { clipped, normsOf } from './clipping.js';

const BLOCK = 256;
const EPSILON = 2 ** -52;

/** Rows i to j-1, float32 [j - i, width]. @typedef {(i: number, j: number) => Promise<Float32Array>} Rows */

/**
 * Over all pairs of `count` rows, rounded up. Takes count^2 * width / 2 multiplications in double precision;
 * the error of a squared distance is at most 2 (width + 8) units of rounding times clip^2, and is added.
 * @param {Rows} rows @param {number} count @param {number} width @param {number} clip
 * @param {(done: number) => void} [onProgress] how much of it, 0..1; what it throws ends the search
 * @returns {Promise<number>}
 */
export async function largestDistance(rows, count, width, clip, onProgress = () => {}) {
  let largest = 0;
  let done = 0;
  const blocks = Math.ceil(count / BLOCK);
  const block = async (/** @type {number} */ first) =>
    clipped(await rows(first, Math.min(first + BLOCK, count)), width, clip);
  for (let first = 0; first < count; first += BLOCK) {
    const left = await block(first);
    for (let second = first; second < count; second += BLOCK) {
      largest = Math.max(largest, largestSquared(left, second === first ? left : await block(second), width));
      onProgress((2 * ++done) / (blocks * (blocks + 1)));
    }
  }
  const error = 4 * (width + 8) * EPSILON * clip * clip;
  return Math.min(Math.sqrt(largest + error), 2 * clip);
}

/** The norms of a table's rows. @param {Rows} rows @param {number} count @param {number} width
 * @param {(done: number) => void} [onProgress] 0..1 */
export async function tableNorms(rows, count, width, onProgress = () => {}) {
  const norms = new Float64Array(count);
  for (let first = 0; first < count; first += BLOCK) {
    norms.set(normsOf(await rows(first, Math.min(first + BLOCK, count)), width), first);
    onProgress(Math.min(1, (first + BLOCK) / count));
  }
  return norms;
}

/** @param {Float64Array} left @param {Float64Array} right rows of `width` @param {number} width */
function largestSquared(left, right, width) {
  let largest = 0;
  for (let a = 0; a < left.length; a += width) {
    for (let b = 0; b < right.length; b += width) {
      const squared = squaredDistance(left, a, right, b, width);
      if (squared > largest) largest = squared;
    }
  }
  return largest;
}

/**
 * @param {Float64Array} left @param {number} a @param {Float64Array} right @param {number} b
 * @param {number} width
 */
function squaredDistance(left, a, right, b, width) {
  let even = 0;
  let odd = 0;
  let i = 0;
  for (; i + 1 < width; i += 2) {
    const d = left[a + i] - right[b + i];
    const e = left[a + i + 1] - right[b + i + 1];
    even += d * d;
    odd += e * e;
  }
  const last = i < width ? left[a + i] - right[b + i] : 0;
  return even + odd + last * last;
}
