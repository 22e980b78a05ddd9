// The Gaussian mechanism: from (epsilon, delta) to sigma and back, as split_privacy.gaussian has it.
//
// A release of a vector plus N(0, sigma^2) in every coordinate, where neighbouring inputs differ by at most
// `sensitivity` in Euclidean norm, is mu-Gaussian differentially private with mu = sensitivity / sigma
// (Dong, Roth, Su 2019). It is (epsilon, delta)-differentially private exactly when
//
//     delta >= Phi(mu/2 - epsilon/mu) - e^epsilon Phi(-mu/2 - epsilon/mu)
//
// (Balle, Wang 2018, theorem 8). Releases compose: the mu^2 add up.
import { InvalidPrivacyParameter } from '../errors.js';
import { cdf, density, mills } from './normal.js';

// Halvings of an interval: more than a double has bits.
const HALVINGS = 200;

/**
 * The largest mu that gives (epsilon, delta), rounded down.
 * @param {number} epsilon @param {number} delta @returns {number}
 * @throws {InvalidPrivacyParameter}
 */
export function muOf(epsilon, delta) {
  checkPositive('epsilon', epsilon);
  checkDelta(delta);
  return bisected((mu) => deltaOf(epsilon, mu) <= delta).low;
}

/**
 * The smallest delta for which mu gives (epsilon, delta).
 * @param {number} epsilon @param {number} mu @returns {number}
 * @throws {InvalidPrivacyParameter}
 */
export function deltaOf(epsilon, mu) {
  if (!(epsilon >= 0 && epsilon < Infinity)) {
    throw new InvalidPrivacyParameter('epsilon', epsilon, 'a finite number from 0');
  }
  checkMu(mu);
  if (mu === 0) return 0;
  const near = epsilon / mu - mu / 2;
  const far = epsilon / mu + mu / 2;
  // e^epsilon density(far) = density(near): neither e^epsilon nor a tail is formed by itself.
  if (near >= 0) return density(near) * Math.max(0, mills(near) - mills(far));
  return Math.max(0, cdf(-near) - density(near) * mills(far));
}

/**
 * The smallest epsilon for which mu gives (epsilon, delta), rounded up.
 * @param {number} delta @param {number} mu @returns {number}
 * @throws {InvalidPrivacyParameter}
 */
export function epsilonOf(delta, mu) {
  checkDelta(delta);
  checkMu(mu);
  if (deltaOf(0, mu) <= delta) return 0;
  return bisected((epsilon) => deltaOf(epsilon, mu) > delta).high;
}

/**
 * The two neighbours between which `below`, true at 0, becomes false.
 * @param {(value: number) => boolean} below @returns {{low: number, high: number}}
 */
function bisected(below) {
  let low = 0;
  let high = 1;
  while (below(high)) [low, high] = [high, 2 * high];
  for (let i = 0; i < HALVINGS; i++) {
    const middle = 0.5 * (low + high);
    if (!(low < middle && middle < high)) break;
    if (below(middle)) low = middle;
    else high = middle;
  }
  return { low, high };
}

/** @param {number} delta */
function checkDelta(delta) {
  if (delta > 0 && delta < 1) return;
  throw new InvalidPrivacyParameter('delta', delta, 'between 0 and 1, both excluded');
}

/** @param {number} mu */
function checkMu(mu) {
  if (mu >= 0 && mu < Infinity) return;
  throw new InvalidPrivacyParameter('mu', mu, 'a finite number from 0');
}

/** @param {string} field @param {number} value @throws {InvalidPrivacyParameter} */
export function checkPositive(field, value) {
  if (value > 0 && value < Infinity) return;
  throw new InvalidPrivacyParameter(field, value, 'a finite number above 0');
}
