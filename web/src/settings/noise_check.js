/** Whether a choice for a chat's noise is one: what lies on the disk or in a file may be anything. */

/** @typedef {import('../../types/gatelink').NoiseChoice} NoiseChoice */

/** @param {unknown} value @returns {value is NoiseChoice} */
export function isNoise(value) {
  const { on, epsilon, sigma, delta, clip, budget } = /** @type {Partial<NoiseChoice>} */ (Object(value));
  const positive = [epsilon, sigma, clip, budget].every((number) => number === null || isPositive(number));
  const small = isPositive(delta) && Number(delta) < 1;
  return typeof on === 'boolean' && positive && small && (epsilon === null) !== (sigma === null);
}

/** A copy of its own fields; null where it is none. @param {unknown} value @returns {NoiseChoice | null} */
export function noiseIn(value) {
  if (!isNoise(value)) return null;
  const { on, epsilon, sigma, delta, clip, budget } = value;
  return { on, epsilon, sigma, delta, clip, budget };
}

/** @param {unknown} value */
function isPositive(value) {
  return typeof value === 'number' && value > 0 && value < Infinity;
}
