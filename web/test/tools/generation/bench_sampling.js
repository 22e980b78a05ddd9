// The cost of choosing a token beside the LM head: node test/tools/generation/bench_sampling.js
// CPU milliseconds per token over a vocabulary of 151,936; the head here only looks its answers up.
import { paramsFrom } from '../../../src/generation/params.js';
import { Sampler } from '../../../src/generation/sampler.js';
import { randomNumbers } from '../../generation/random.js';

const ROWS = 151_936;
const random = randomNumbers(1);
const bell = () => random() + random() + random() + random() - 2;
const logits = Float32Array.from({ length: ROWS }, () => 6 * bell());
const order = Int32Array.from(logits.keys()).sort((a, b) => logits[b] - logits[a] || a - b);

/** @param {Int32Array} ids */
function logitsOf(ids) {
  const found = new Float32Array(ids.length);
  for (let i = 0; i < ids.length; i++) found[i] = logits[ids[i]];
  return found;
}

/** @param {boolean} decided whether the first candidates decide a draw */
function head(decided) {
  const rest = { low: 0, high: decided ? 1e-6 : 1e9 };
  /** @type {(hidden: Float32Array, k: number, also?: Int32Array) => Promise<any>} */
  const top = async (_, k, also = new Int32Array(0)) => {
    const ids = order.slice(0, k);
    return { ids, logits: logitsOf(ids), alsoLogits: logitsOf(also) };
  };
  /** @type {(hidden: Float32Array, k: number, temperature: number, also?: Int32Array) => Promise<any>} */
  const topAndRest = async (hidden, k, _, also) => ({ top: await top(hidden, k, also), rest });
  return { rows: ROWS, top, topAndRest, logits: async () => logits };
}

/**
 * @param {string} name @param {object} fields @param {number} history @param {number} tokens
 * @param {boolean} decided
 */
async function measure(name, fields, history, tokens, decided = true) {
  const sampler = new Sampler(head(decided), paramsFrom({ ...fields, seed: 1 }));
  const prompt = Array.from({ length: history }, () => Math.floor(ROWS * random() * random()));
  const hidden = new Float32Array(896);
  /** @type {number[]} */
  const reply = [];
  const next = async () => reply.push((await sampler.choose(hidden, prompt, reply, reply.length)).token);
  for (let warm = 0; warm < 20; warm++) await next();
  const before = process.cpuUsage();
  for (let token = 0; token < tokens; token++) await next();
  const { user, system } = process.cpuUsage(before);
  console.log(`${name}, ${history} tokens of history: ${((user + system) / 1000 / tokens).toFixed(3)} ms`);
}

const filters = { temperature: 0.8, top_k: 50, top_p: 0.95 };
const penalties = { ...filters, repetition_penalty: 1.1, presence_penalty: 0.5, frequency_penalty: 0.2 };
await measure('greedy', {}, 100, 2000);
await measure('top-k 50, top-p', filters, 100, 2000);
for (const history of [100, 1_000, 10_000, 32_000]) {
  await measure('top-k 50, top-p, penalties', penalties, history, 1000);
}
await measure('top-p, decided by the first 256', { temperature: 0.3, top_p: 0.5 }, 100, 1000);
await measure('top-p, all logits', { temperature: 1, top_p: 0.95 }, 100, 20, false);
