/** The choices for a chat's noise; the ranges are those of the room noise. */

/** @typedef {import('../../types/gatelink').NoiseChoice} NoiseChoice */

/** What a chat begins with when noise is switched on. @type {Readonly<NoiseChoice>} */
export const FIRST_NOISE = Object.freeze({
  on: true, epsilon: 8, sigma: null, delta: 1e-5, clip: null, budget: null,
});

/** @param {unknown} value @returns {value is NoiseChoice} */
export function isNoise(value) {
  const { on, epsilon, sigma, delta, clip, budget } = /** @type {Partial<NoiseChoice>} */ (Object(value));
  const positive = [epsilon, sigma, clip, budget].every((number) => number === null || isPositive(number));
  const small = isPositive(delta) && Number(delta) < 1;
  return typeof on === 'boolean' && positive && small && (epsilon === null) !== (sigma === null);
}

/**
 * What of a choice goes to the engine.
 * @param {NoiseChoice | null | undefined} choice
 * @returns {Omit<NoiseChoice, 'on'> | null} null: rows are sent as they are
 */
export function noiseWish(choice) {
  if (!choice?.on) return null;
  const { epsilon, sigma, delta, clip, budget } = choice;
  return { epsilon, sigma, delta, clip, budget };
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
