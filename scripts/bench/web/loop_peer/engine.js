// Ours, as the app's engine worker uses it: ends.js over workers, and the sampler.
import { Ends } from '../../../../web/src/ends/ends.js';
import { paramsFrom } from '../../../../web/src/generation/params.js';
import { Sampler } from '../../../../web/src/generation/sampler.js';
import { answer } from './jobs.js';
import { normal } from './random.js';

/** @type {Ends} */
let ends;
let width = 0;

answer({ open, top, head, reply, logits, close }, (error) => `${error.code ?? error}`);

async function open({ descriptors, rows, hidden, kernel }) {
  width = hidden;
  const start = performance.now();
  ends = await Ends.open({
    manifest: { hiddenSize: hidden, head: { rows, dtype: 'f16' }, embedding: { rows, dtype: 'f16' } },
    shards: { head: descriptors, embedding: descriptors },
    spec: { bias: null, softcap: null, scale: 1, divide: false },
    kernel,
  });
  return { kernel: ends.kernel, workers: ends.workers, ms: performance.now() - start };
}

async function top({ seeds, k }) {
  const tops = [];
  for (const seed of seeds) {
    const { ids, logits } = await ends.head.top(normal(width, seed), k);
    tops.push({ ids: [...ids], logits: [...logits] });
  }
  return tops;
}

/** Milliseconds of each token: the top k. */
function head({ seeds, k }) {
  return timed(seeds, (state) => ends.head.top(state, k));
}

/** Milliseconds of each token: LM head and sampling. */
function reply({ seeds, sampling }) {
  const { temperature, topK, topP } = sampling;
  const params = paramsFrom({ temperature, top_k: topK, top_p: topP, seed: '1' });
  const sampler = new Sampler(ends.head, params);
  const generated = [];
  return timed(seeds, async (state, index) => {
    generated.push((await sampler.choose(state, [1, 2, 3], generated, index)).token);
  });
}

/** Milliseconds of each token: all logits. */
function logits({ seeds }) {
  return timed(seeds, (state) => ends.head.logits(state));
}

async function timed(seeds, work) {
  const times = [];
  for (const [index, seed] of seeds.entries()) {
    const state = normal(width, seed);
    const start = performance.now();
    await work(state, index);
    times.push(performance.now() - start);
  }
  return times;
}

function close() {
  return ends.close();
}
