// Rules of noise: what it forbids, because it would look at the clean prompt and tell of it.
//
// The reply's tokens go back to the server. That costs the prompt nothing as long as they follow from the
// noised rows, the server's answers and the device's own randomness (post-processing).
import { AUTO, placeOf } from '../adapters/place.js';
import { NoiseForbids } from './errors.js';

/**
 * A model's own sampling without the penalty that looks at the prompt.
 * @param {Record<string, number>} generation of the manifest @returns {Record<string, number>}
 */
export function withoutPenalty(generation) {
  return { ...generation, repetition_penalty: 1 };
}

/**
 * @param {{repetitionPenalty: number}} params
 * @throws {NoiseForbids} where replies would depend on the clean prompt
 */
export function requireBlindSampling({ repetitionPenalty }) {
  if (repetitionPenalty === 1) return;
  throw new NoiseForbids(
    'a repetition penalty',
    'it looks at the clean prompt, and the reply that is sent back would tell of it',
    'set it to 1; presence and frequency penalties look at the reply only',
  );
}

/** @param {string | null} adapter @throws {NoiseForbids} where its choice would depend on the message */
export function requireBlindAdapter(adapter) {
  if (placeOf(adapter).name !== AUTO) return;
  throw new NoiseForbids(
    'the adapter “Auto”',
    'it chooses by the clean message, and the adapter’s name is sent',
    'name the adapter, or none',
  );
}
