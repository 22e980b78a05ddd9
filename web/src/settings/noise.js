/** The choices for a chat's noise; the ranges are those of the room noise. */

/** @typedef {import('../../types/gatelink').NoiseChoice} NoiseChoice */

/** What a chat begins with when noise is switched on. @type {Readonly<NoiseChoice>} */
export const FIRST_NOISE = Object.freeze({
  on: true, epsilon: 8, sigma: null, delta: 1e-5, clip: null, budget: null,
});

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
