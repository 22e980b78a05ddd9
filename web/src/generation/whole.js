// A draw without top-k over the whole vocabulary, where the first candidates did not decide it.
import { keptWeights, pick, total } from './filters.js';

/**
 * Draw `u` among all tokens. Logits are sorted without their ids, which is many times faster in JavaScript;
 * the id of what was drawn is found by its logit and its place among the equal ones.
 * @param {Float64Array} logits [n] after bias and penalties, -Infinity: not allowed; at least one is finite
 * @param {import('../../types/gatelink.d.ts').SamplingParams} params temperature above 0, topK 0
 * @param {number} u
 * @returns {{token: number, probability: number}}
 */
export function drawFromAll(logits, params, u) {
  const ranked = logits.slice().sort().reverse();
  const weights = keptWeights(ranked, params);
  const index = pick(weights, u);
  return { token: tokenAt(logits, ranked, index), probability: weights[index] / total(weights) };
}

/**
 * The id at place `index` of the ranking by (-logit, id).
 * @param {Float64Array} logits of ids 0, 1, 2, ...
 * @param {Float64Array} ranked the same, falling
 * @param {number} index
 */
function tokenAt(logits, ranked, index) {
  const logit = ranked[index];
  let first = index;
  while (first > 0 && ranked[first - 1] === logit) first--;
  let token = -1;
  for (let passed = first; passed <= index; passed++) {
    // Not indexOf: it is the same comparison (-0 equals 0), but stated here.
    do token++;
    while (logits[token] !== logit);
  }
  return token;
}
