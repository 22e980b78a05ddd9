// Seeded sampling, defined once for every language (device_client/split_client/generation/sampling/draw.py,
// tests/vectors/sampling.json). Candidates stand by (-logit, id), all is float64, sums run from the first to
// the last.

/** @typedef {import('../../types/gatelink.d.ts').SamplingParams} SamplingParams */

/**
 * Unnormalised weights [m] of the candidates that top-k, then top-p, then min-p keep: a prefix of `ranked`,
 * never empty.
 * @param {Float64Array} ranked logits [n], n >= 1, by (-logit, id)
 * @param {Pick<SamplingParams, 'temperature' | 'topK' | 'topP' | 'minP'>} params temperature above 0
 */
export function keptWeights(ranked, params) {
  let weights = tempered(ranked, params.temperature, params.topK || ranked.length);
  if (params.topP < 1) {
    const sums = cumulated(weights);
    weights = weights.subarray(0, firstReaching(sums, params.topP * sums[sums.length - 1]) + 1);
  }
  return params.minP > 0 ? weights.subarray(0, countReaching(weights, params.minP * weights[0])) : weights;
}

/**
 * exp((logit - first) / temperature) of at most `count` ranked logits; the first weight is 1.
 * @param {Float64Array} ranked
 * @param {number} temperature
 * @param {number} [count]
 */
export function tempered(ranked, temperature, count = ranked.length) {
  const weights = new Float64Array(Math.min(count, ranked.length));
  for (let i = 0; i < weights.length; i++) weights[i] = Math.exp((ranked[i] - ranked[0]) / temperature);
  return weights;
}

/**
 * The index of the first of `weights` at which their sum exceeds u times the total.
 * @param {Float64Array} weights
 * @param {number} u in [0, 1)
 */
export function pick(weights, u) {
  const sums = cumulated(weights);
  const total = sums[sums.length - 1];
  // u * total may round up to the total; the last candidate with a weight is meant then.
  return Math.min(firstExceeding(sums, u * total), firstReaching(sums, total));
}

/** @param {Float64Array} weights @returns {Float64Array} sums of the first 1, 2, ... of them */
export function cumulated(weights) {
  const sums = new Float64Array(weights.length);
  let sum = 0;
  for (let i = 0; i < sums.length; i++) sums[i] = sum += weights[i];
  return sums;
}

/** @param {Float64Array} weights @param {number} [count] */
export function total(weights, count = weights.length) {
  let sum = 0;
  for (let i = 0; i < count; i++) sum += weights[i];
  return sum;
}

/**
 * The index of the first of the rising `sums` that is at least `bound`; their count where none is, or for
 * NaN.
 * @param {Float64Array} sums
 * @param {number} bound
 */
export function firstReaching(sums, bound) {
  let [low, high] = [0, sums.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (sums[middle] >= bound) high = middle;
    else low = middle + 1;
  }
  return low;
}

/**
 * The index of the first of the rising `sums` above `bound`; their count where none is, or for NaN.
 * @param {Float64Array} sums
 * @param {number} bound
 */
export function firstExceeding(sums, bound) {
  let [low, high] = [0, sums.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (sums[middle] > bound) high = middle;
    else low = middle + 1;
  }
  return low;
}

/**
 * How many of the falling `weights` are at least `bound`.
 * @param {Float64Array} weights
 * @param {number} bound
 */
export function countReaching(weights, bound) {
  let [low, high] = [0, weights.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (weights[middle] >= bound) low = middle + 1;
    else high = middle;
  }
  return low;
}
