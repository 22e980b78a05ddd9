// Log-probabilities of a chosen token and of the most likely ones, under the model alone: the natural log of the
// softmax of the LM head's logits in doubles, before anything that the sampler does.
//
// It imports nothing, so that what the engine holds from the beginning stays one file.

/** @typedef {import('../../types/gatelink.d.ts').LMHead} LMHead */
/** @typedef {import('./loop.js').TokenLogprobs} TokenLogprobs */
/** @typedef {[number, number][]} Pairs [id, logit] */

// How many logits are exact before all are computed.
const PREFIX = 256;
// Widest doubt of the log of the sum for which no other logits are computed.
const DOUBT = 1e-5;

/**
 * Of `token` and of the first `count` tokens.
 * @param {LMHead} head
 * @param {Float32Array} hidden final hidden state [hidden size]
 * @param {number} token
 * @param {number} count
 * @returns {Promise<TokenLogprobs>}
 */
export async function tokenLogprobs(head, hidden, token, count) {
  return (await fromPrefix(head, hidden, token, count)) ?? fromAll(head, hidden, token, count);
}

/**
 * From the first logits and bounds of the rest, or null where these are too wide.
 * @param {LMHead} head @param {Float32Array} hidden @param {number} token @param {number} count
 */
async function fromPrefix(head, hidden, token, count) {
  const found = await head.topAndRest(hidden, PREFIX, 1, Int32Array.of(token));
  if (found === null) return null;
  const { top, rest } = found;
  const own = top.alsoLogits[0];
  const ranked = pairsOf(top.ids, top.logits);
  ranked.push([token, own]);
  ranked.sort(([a, left], [b, right]) => right - left || a - b);
  const first = ranked[0][1];
  const known = weightOf(ranked.map(([, logit]) => logit), first);
  const unit = Math.exp(top.logits[0] - first);
  const [low, high] = [rest.low, rest.high].map((weight) => Math.log(known + weight * unit));
  if (!(high - low <= DOUBT)) return null;
  return told(own, ranked.slice(0, count), first + (low + high) / 2);
}

/** @param {LMHead} head @param {Float32Array} hidden @param {number} token @param {number} count */
async function fromAll(head, hidden, token, count) {
  const logits = await head.logits(hidden);
  const top = await head.top(hidden, count);
  const first = logits.reduce((most, logit) => Math.max(most, logit));
  const total = first + Math.log(weightOf(logits, first));
  return told(logits[token], pairsOf(top.ids, top.logits), total);
}

/** @param {Int32Array} ids @param {Float32Array} logits @returns {Pairs} */
function pairsOf(ids, logits) {
  return Array.from(ids, (id, i) => [id, logits[i]]);
}

/** @param {ArrayLike<number>} logits @param {number} first */
function weightOf(logits, first) {
  let sum = 0;
  for (let i = 0; i < logits.length; i++) sum += Math.exp(logits[i] - first);
  return sum;
}

/** @param {number} logit @param {Pairs} top @param {number} total @returns {TokenLogprobs} */
function told(logit, top, total) {
  return { logprob: logit - total, top: top.map(([id, value]) => [id, value - total]) };
}
