// The peer: the whole LM head and sampling as a loop in JavaScript, on one thread.
//
// The table is float16 in memory, each value widened through a table of 65,536 as it is multiplied; every
// logit is computed, all are sorted, then temperature, top-k, top-p and a draw.
import { answer } from './jobs.js';
import { halves, normal } from './random.js';

const wide = halves();
let table = new Uint16Array();
let width = 0;

answer({ open, top, head, reply });

/** Reads the whole table. */
async function open({ descriptors, hidden }) {
  width = hidden;
  const rows = descriptors.reduce((sum, { rows: own }) => sum + own, 0);
  table = new Uint16Array(rows * hidden);
  const root = await navigator.storage.getDirectory();
  for (const { path, first } of descriptors) {
    const directory = await root.getDirectoryHandle(path[0]);
    const file = await (await directory.getFileHandle(path[1])).getFile();
    table.set(new Uint16Array(await file.arrayBuffer()), first * hidden);
  }
}

function logitsOf(state) {
  const logits = new Float32Array(table.length / width);
  // Locals are what an engine can keep in registers.
  const weights = table;
  const widened = wide;
  const length = width;
  let at = 0;
  for (let row = 0; row < logits.length; row++) {
    let sum = 0;
    for (let i = 0; i < length; i++) sum += widened[weights[at++]] * state[i];
    logits[row] = sum;
  }
  return logits;
}

function sorted(logits) {
  const ids = Array.from(logits, (_, id) => id);
  return ids.sort((a, b) => logits[b] - logits[a]);
}

function sample(logits, { temperature, topK, topP }) {
  const ids = sorted(logits).slice(0, topK);
  const largest = logits[ids[0]];
  const weights = ids.map((id) => Math.exp((logits[id] - largest) / temperature));
  const total = weights.reduce((a, b) => a + b, 0);
  let kept = 0;
  for (let mass = 0; kept < weights.length && mass < topP; kept++) mass += weights[kept] / total;
  const mass = weights.slice(0, kept).reduce((a, b) => a + b, 0);
  let u = Math.random() * mass;
  for (let i = 0; i < kept; i++) {
    u -= weights[i];
    if (u <= 0) return ids[i];
  }
  return ids[0];
}

/** The first `k` of each hidden state. */
function top({ seeds, k }) {
  return seeds.map((seed) => {
    const logits = logitsOf(normal(width, seed));
    const ids = sorted(logits).slice(0, k);
    return { ids, logits: ids.map((id) => logits[id]) };
  });
}

/** Milliseconds of each token: LM head alone. */
function head({ seeds }) {
  return timed(seeds, (state) => logitsOf(state));
}

/** Milliseconds of each token: LM head and sampling. */
function reply({ seeds, sampling }) {
  return timed(seeds, (state) => sample(logitsOf(state), sampling));
}

function timed(seeds, work) {
  return seeds.map((seed) => {
    const state = normal(width, seed);
    const start = performance.now();
    work(state);
    return performance.now() - start;
  });
}
