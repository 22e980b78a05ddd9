// A user's settings of noised mode, checked as split_client.noise.settings does it.
import { NoiseSettingInvalid } from './errors.js';

export const DEFAULT_DELTA = 1e-5;
export const IDENTITY = 'default';

/**
 * Either `epsilon` (of one token replaced, each time that it is sent, at `delta`) or `sigma` (of the noise
 * in every value). `clip`: rows are scaled down to this norm; null: the norm that 99% of the table's rows do
 * not exceed. `budget`: what all that is recorded in this browser, over all chats and models, may come to
 * when everything is replaced, at `delta`, for this chat to send more; null: no bound.
 * @typedef {{epsilon: number | null, sigma: number | null, delta: number, clip: number | null,
 *   budget: number | null}} NoiseSettings
 */

/**
 * @param {Partial<NoiseSettings>} given
 * @returns {NoiseSettings}
 * @throws {NoiseSettingInvalid}
 */
export function checkedSettings(given) {
  const { epsilon = null, sigma = null, delta = DEFAULT_DELTA, clip = null, budget = null } = given;
  if ((epsilon === null) === (sigma === null)) {
    throw new NoiseSettingInvalid('noise is either an epsilon or a sigma; give one of the two');
  }
  for (const [name, value] of Object.entries({ epsilon, sigma, clip, budget })) {
    const fits = value === null || (typeof value === 'number' && value > 0 && value < Infinity);
    if (!fits) throw new NoiseSettingInvalid(`noise ${name} is ${value}; it is a number above 0`);
  }
  if (!(delta > 0 && delta < 1)) {
    throw new NoiseSettingInvalid(`noise delta is ${delta}; it is between 0 and 1`);
  }
  return { epsilon, sigma, delta, clip, budget };
}
