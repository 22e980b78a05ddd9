// The standard normal distribution, accurate in relative terms far into its tails.
//
// Mills' ratio, the upper tail over the density, neither underflows nor cancels where the tail itself is
// too small for a double.

const ROOT_TWO_PI = Math.sqrt(2 * Math.PI);
// Below, the tail is a half less a series and loses few bits; above, the fraction converges.
const FRACTION_FROM = 1.5;

/** P[N(0, 1) <= x]. @param {number} x */
export function cdf(x) {
  if (x >= FRACTION_FROM) return 1 - density(x) * fraction(x);
  if (x <= -FRACTION_FROM) return density(x) * fraction(-x);
  return 0.5 + density(x) * series(x);
}

/** The density of N(0, 1); 0 where it underflows. @param {number} x */
export function density(x) {
  return Math.exp(-0.5 * x * x) / ROOT_TWO_PI;
}

/** P[N(0, 1) > x] / density(x) for x >= 0. @param {number} x */
export function mills(x) {
  return x < FRACTION_FROM ? 0.5 / density(x) - series(x) : fraction(x);
}

/**
 * (P[N(0, 1) <= x] - 1/2) / density(x) = x + x^3/3 + x^5/(3*5) + ... (Abramowitz and Stegun 26.2.11).
 * @param {number} x
 */
function series(x) {
  let term = x;
  let sum = x;
  for (let odd = 3; Math.abs(term) > 1e-18 * Math.abs(sum); odd += 2) {
    term *= (x * x) / odd;
    sum += term;
  }
  return sum;
}

/**
 * Laplace's continued fraction 1/(x + 1/(x + 2/(x + 3/...))) (Abramowitz and Stegun 26.2.14); the number of
 * terms that it needs grows as 1/x^2.
 * @param {number} x
 */
function fraction(x) {
  let value = x;
  for (let term = 60 + Math.ceil(600 / (x * x)); term > 0; term--) value = x + term / value;
  return 1 / value;
}
