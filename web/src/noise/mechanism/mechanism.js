// Rows of an embedding table, released with noise, as split_privacy.mechanism does it.
//
// A row is scaled down to norm `clip` where it is longer, rounded to a grid whose step is sigma / WIDTH, and
// a discrete Gaussian is added in whole numbers. Whatever happens to the sum afterwards (the product with
// the step, rounding to a wire's dtype) does not look at the row again: it is post-processing and costs
// nothing.
import { clipped } from './clipping.js';
import {
  SLACK_PER_COORDINATE, WIDTH, WORDS_PER_DRAW, discreteGaussian, epsilonOfRelease,
} from './discrete.js';
import { InvalidPrivacyParameter } from '../errors.js';
import { checkPositive, muOf } from './gaussian.js';

/** @typedef {import('./prf.js').RowName} RowName */
/** @typedef {import('./prf.js').RowStreams} RowStreams */

// Of float64 arithmetic in clipping and in dividing by the step, relative; generous.
const ROUNDING = 1e-9;
// Whole numbers of a grid stay exact in a double up to here.
const MOST_STEPS = 2 ** 52;

/** Noise of `sigma` in each of `width` coordinates of rows of norm at most `clip`. */
export class RowMechanism {
  /**
   * @param {{sigma: number, clip: number, sensitivity: number, width: number}} numbers `sensitivity`: the
   *   largest distance between two clipped rows, before they are rounded
   * @throws {InvalidPrivacyParameter}
   */
  constructor({ sigma, clip, sensitivity, width }) {
    const numbers = { sigma, clip, sensitivity, width };
    for (const [name, value] of Object.entries(numbers)) checkPositive(name, value);
    this.sigma = sigma;
    this.clip = clip;
    this.sensitivity = sensitivity;
    this.width = width;
    /** Of the grid. */
    this.step = sigma / WIDTH;
    if (clip / this.step > MOST_STEPS) {
      throw new InvalidPrivacyParameter('sigma', sigma, 'at least a 2^30th of clip');
    }
    /** The largest distance between two clipped and rounded rows. */
    this.distance = sensitivity * (1 + ROUNDING) + this.step * roundingSteps(width);
    /** Of one row. */
    this.mu = this.distance / sigma;
  }

  /**
   * The least noise with which one row is (epsilon, delta), rounding and all included.
   * @param {{epsilon: number, delta: number, clip: number, sensitivity: number, width: number}} wanted
   * @throws {InvalidPrivacyParameter}
   */
  static forEpsilon({ epsilon, delta, clip, sensitivity, width }) {
    const slack = width * SLACK_PER_COORDINATE;
    const mu = muOf(epsilon - slack, delta * (1 - slack));
    const room = mu - roundingSteps(width) / WIDTH;
    if (room <= 0) throw new InvalidPrivacyParameter('epsilon', epsilon, 'larger; no noise gives so little');
    return new RowMechanism({ sigma: (sensitivity * (1 + ROUNDING)) / room, clip, sensitivity, width });
  }

  /** The epsilon at `delta` when `rows` rows are replaced; Infinity where none holds.
   * @param {number} delta @param {number} [rows] */
  epsilon(delta, rows = 1) {
    return epsilonOfRelease(delta, Math.sqrt(rows) * this.mu, rows * this.width);
  }

  /**
   * Noised rows; the noise of each is that of its name.
   * @param {Float32Array} rows [n * width] @param {RowName[]} names [n] @param {RowStreams} streams
   * @returns {Float32Array} [n * width]
   */
  release(rows, names, streams) {
    const grid = this.onGrid(rows);
    const noised = new Float32Array(rows.length);
    names.forEach((name, row) => {
      const noise = this.noise(name, streams);
      const at = row * this.width;
      for (let i = 0; i < this.width; i++) noised[at + i] = (grid[at + i] + noise[i]) * this.step;
    });
    return noised;
  }

  /** Clipped rows in whole steps. @param {Float32Array} rows [n * width] @returns {Float64Array} */
  onGrid(rows) {
    return clipped(rows, this.width, this.clip).map((value) => nearest(value / this.step));
  }

  /**
   * The noise of a row in whole steps.
   * @param {RowName} name @param {RowStreams} streams @returns {Float64Array}
   */
  noise(name, streams) {
    const words = streams.words(name, WORDS_PER_DRAW * this.width);
    return discreteGaussian(words, (index, bits) => streams.more(name, index, bits));
  }
}

/** How much farther apart rounding can put two rows, in steps. @param {number} width */
function roundingSteps(width) {
  return Math.sqrt(width) * (1 + ROUNDING);
}

/** The nearest whole number, ties to even, of a number up to 2^52. @param {number} value */
function nearest(value) {
  return value < 0 ? value - MOST_STEPS + MOST_STEPS : value + MOST_STEPS - MOST_STEPS;
}
