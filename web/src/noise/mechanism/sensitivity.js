// The largest distance between two rows of a clipped table, or a proven bound on it: the search of the terminal
// client, pair for pair, so that the same noise has the same epsilon in both (common/split_privacy).
//
// Two rows are no farther apart than their distances from the table's mean, added. Rows far from it are compared
// first; once what was found exceeds the sum of what remains, no other pair can be farther apart. Where that takes
// too many multiplications, as with rows that all lie equally far out, the sum bounds it.
import { clipped, normsOf } from './clipping.js';

/** Multiplications that a search may take: some seconds of one worker of a phone. */
export const MOST_PRODUCTS = 5e9;
const BLOCK = 256;
// Rows that are compared with all that may be farther from them than what was found.
const STRIP = 64;
const EPSILON = 2 ** -52;

/** The rows of ids, float32 [n * width]. @typedef {(ids: number[]) => Promise<Float32Array>} Rows */
/**
 * No two clipped rows are farther apart than `distance`; `exact`: two rows are that far.
 * @typedef {{distance: number, exact: boolean}} Farthest
 */

/**
 * Over all pairs of `count` rows, rounded up, at most twice `clip`. The error of a squared distance is at most
 * 2 (width + 8) units of rounding times the square of the longest row, and is added.
 * @param {Rows} rows @param {number} count @param {number} width @param {number} clip
 * @param {{onProgress?: (done: number) => void, mostProducts?: number}} [options] onProgress: how much of it,
 *   0..1; what it throws ends the search
 * @returns {Promise<Farthest>}
 */
export async function largestDistance(rows, count, width, clip, options = {}) {
  const { onProgress = () => {}, mostProducts = MOST_PRODUCTS } = options;
  const view = await viewed(rows, count, width, clip, onProgress);
  const { here, radii, ids, error } = view;
  const found = () => Math.sqrt(view.squared + error);
  const told = (/** @type {Farthest} */ farthest) => (onProgress(1), farthest);
  let left = mostProducts;
  for (let first = 0; first < count - 1; first += STRIP) {
    const last = inQuestion(radii, ids, found() - radii[ids[first]]);
    if (last < first + 2) break;
    left -= STRIP * (last - first) * width;
    if (left < 0) {
      const bound = radii[ids[first]] + radii[ids[first + 1]];
      return told({ distance: Math.min(Math.max(found(), bound), 2 * clip), exact: false });
    }
    const strip = await here(ids.subarray(first, first + STRIP));
    for (let start = first; start < last; start += BLOCK) {
      const others = await here(ids.subarray(start, Math.min(start + BLOCK, last)));
      view.squared = Math.max(view.squared, farthestOf(strip, others, width).squared);
    }
    onProgress(Math.max(0.5, 0.99 - left / mostProducts / 2));
  }
  return told({ distance: Math.min(found(), 2 * clip), exact: true });
}

/**
 * The clipped rows as seen from their mean: `here` reads them, `radii` says how far each is, rounded up, `ids`
 * begin with the farthest, `squared` is the largest square of a distance so far, `error` that of any.
 * @param {Rows} rows @param {number} count @param {number} width @param {number} clip
 * @param {(done: number) => void} onProgress
 */
async function viewed(rows, count, width, clip, onProgress) {
  const around = async (/** @type {number[] | Int32Array} */ ids, /** @type {Float64Array} */ centre) =>
    shifted(clipped(await rows([...ids]), width, clip), centre);
  let looks = 0;
  const look = () => onProgress(++looks / (8 * Math.ceil(count / BLOCK)));
  const centre = await meanOf(around, count, width, look);
  const here = (/** @type {number[] | Int32Array} */ ids) => around(ids, centre);
  const radii = await radiiOf(here, count, width, look);
  const ids = Int32Array.from(radii, (_, id) => id).sort((a, b) => radii[b] - radii[a] || a - b);
  // No row is longer.
  const reach = radii[ids[0]] + normOf(centre);
  const error = 4 * (width + 8) * EPSILON * reach * reach;
  return { here, radii, ids, error, squared: await hops(here, ids[0], count, width, look) };
}

/** The norms of a table's rows. @param {Rows} rows @param {number} count @param {number} width
 * @param {(done: number) => void} [onProgress] 0..1 */
export async function tableNorms(rows, count, width, onProgress = () => {}) {
  const norms = new Float64Array(count);
  for (let first = 0; first < count; first += BLOCK) {
    norms.set(normsOf(await rows(idsFrom(first, count)), width), first);
    onProgress(Math.min(1, (first + BLOCK) / count));
  }
  return norms;
}

/** @typedef {(ids: number[] | Int32Array) => Promise<Float64Array>} Here clipped rows as seen from the mean */

/**
 * @param {(ids: number[], centre: Float64Array) => Promise<Float64Array>} around
 * @param {number} count @param {number} width @param {() => void} look
 */
async function meanOf(around, count, width, look) {
  const mean = new Float64Array(width);
  const nothing = new Float64Array(width);
  for (let first = 0; first < count; first += BLOCK, look()) {
    const values = await around(idsFrom(first, count), nothing);
    for (let row = 0; row < values.length; row += width) {
      for (let i = 0; i < width; i++) mean[i] += values[row + i];
    }
  }
  return mean.map((sum) => sum / count);
}

/** How far each row is from the mean, rounded up.
 * @param {Here} here @param {number} count @param {number} width @param {() => void} look */
async function radiiOf(here, count, width, look) {
  const radii = new Float64Array(count);
  for (let first = 0; first < count; first += BLOCK, look()) {
    const values = await here(idsFrom(first, count));
    for (let row = 0; row * width < values.length; row++) {
      const radius = normOf(values.subarray(row * width, (row + 1) * width));
      radii[first + row] = radius * (1 + 2 * (width + 8) * EPSILON);
    }
  }
  return radii;
}

/** From the row farthest out to its farthest, and from there on: most of the way.
 * @param {Here} here @param {number} from @param {number} count @param {number} width @param {() => void} look */
async function hops(here, from, count, width, look) {
  let largest = 0;
  let at = from;
  for (let hop = 0; hop < 2; hop++) {
    const row = await here([at]);
    let best = -1;
    for (let first = 0; first < count; first += BLOCK, look()) {
      const { squared, index } = farthestOf(row, await here(idsFrom(first, count)), width);
      if (squared > best) [best, at] = [squared, first + index];
    }
    largest = Math.max(largest, best);
  }
  return largest;
}

/** The number of rows that lie farther out than `limit`.
 * @param {Float64Array} radii @param {Int32Array} ids farthest out first @param {number} limit */
function inQuestion(radii, ids, limit) {
  let [low, high] = [0, ids.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (radii[ids[middle]] > limit) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** @param {number} first @param {number} count */
function idsFrom(first, count) {
  return Array.from({ length: Math.min(BLOCK, count - first) }, (_, i) => first + i);
}

/** @param {Float64Array} rows changed @param {Float64Array} centre [width] */
function shifted(rows, centre) {
  for (let row = 0; row < rows.length; row += centre.length) {
    for (let i = 0; i < centre.length; i++) rows[row + i] -= centre[i];
  }
  return rows;
}

/** @param {Float64Array} values */
function normOf(values) {
  let sum = 0;
  for (let i = 0; i < values.length; i++) sum += values[i] * values[i];
  return Math.sqrt(sum);
}

/** The largest square, and which of the `others` is that far.
 * @param {Float64Array} rows @param {Float64Array} others both of `width` @param {number} width */
function farthestOf(rows, others, width) {
  let [largest, index] = [-1, 0];
  for (let a = 0; a < rows.length; a += width) {
    for (let b = 0; b < others.length; b += width) {
      const squared = squaredDistance(rows, a, others, b, width);
      if (squared > largest) [largest, index] = [squared, b / width];
    }
  }
  return { squared: largest, index };
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
