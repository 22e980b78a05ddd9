// Cumulative probabilities of a discrete Gaussian, every bit of them correct.
//
// For X with P[X = k] proportional to exp(-k^2 / 2 s^2) over the integers (Canonne, Kamath, Steinke 2020),
// thresholds(s, bits)[j] is floor(2^bits P[|X| <= j]). Whole-number arithmetic with a bound on every
// rounding; where that bound leaves a floor open, more bits are computed.

const GUARD_BITS = 96;

/**
 * The floors for j = 0, 1, ... up to and with the first that is 2^bits - 1.
 * @param {number} s parameter of the Gaussian @param {number} bits @returns {bigint[]}
 */
export function thresholds(s, bits) {
  for (let guard = GUARD_BITS; ; guard *= 2) {
    const found = attempted(s, bits, bits + guard);
    if (found !== null) return found;
  }
}

/** null where `precision` bits behind the point do not tell every floor.
 * @param {number} s @param {number} bits @param {number} precision */
function attempted(s, bits, precision) {
  const weights = weightsOf(BigInt(s), BigInt(precision));
  // Rounding of all weights, and the mass beyond the last, are less than this many units: each factor is
  // off by at most 200(j+1), so each weight by 200(j+2)^2, and beyond the last weight, which is below one
  // unit but for its error, the rest is at most s^2/n + 1 times it.
  const error = 400n * BigInt(weights.length + 2) ** 3n;
  const sums = cumulated(weights);
  const total = sums[sums.length - 1];
  const shift = BigInt(bits);
  const largest = (1n << shift) - 1n;
  /** @type {bigint[]} */
  const found = [];
  for (const sum of sums) {
    const low = ((sum > error ? sum - error : 0n) << shift) / (total + error);
    const high = ((sum + error) << shift) / (total - error);
    if (low !== (high < largest ? high : largest)) {
      // The probabilities approach 1 from below, so at the end only the last floor is left.
      const restBelow = (total - sum + 2n * error) << shift < total - error;
      return restBelow ? [...found, largest] : null;
    }
    found.push(low);
    if (low === largest) return found;
  }
  return null;
}

/** @param {bigint[]} weights of 0, 1, 2, ...; all but the first count twice @returns {bigint[]} */
function cumulated(weights) {
  let sum = -weights[0];
  return weights.map((weight) => (sum += 2n * weight));
}

/** exp(-j^2 / 2 s^2) * 2^precision for j = 0, 1, ... while it is at least one unit.
 * @param {bigint} s @param {bigint} precision */
function weightsOf(s, precision) {
  const one = 1n << precision;
  let factor = expOfMinus(one / (2n * s * s), one);
  const change = expOfMinus(one / (s * s), one);
  const weights = [];
  for (let weight = one; weight; ) {
    weights.push(weight);
    weight = (weight * factor) >> precision;
    factor = (factor * change) >> precision;
  }
  return weights;
}

/** e^(-x / one) * one by Taylor's series, for 0 <= x < one. @param {bigint} x @param {bigint} one */
function expOfMinus(x, one) {
  let total = one;
  let term = one;
  for (let index = 1n; term; index++) {
    term = (term * x) / (one * index);
    total += index % 2n === 0n ? term : -term;
  }
  return total;
}
