// A worker with the ends on a GPU, and with its estimates beside those of WebAssembly.
import { Ends } from '../../../src/ends/ends.js';
import { Deadline } from '../../../src/ends/gpu/deadline.js';
import { requestGpuDevice } from '../../../src/ends/gpu/device.js';
import { PlaneOnGpu } from '../../../src/ends/gpu/plane_on_gpu.js';
import { loadKernels, newMemory, readBesideBundle } from '../../../src/ends/kernels.js';
import { layOut } from '../../../src/ends/plane/layout.js';
import { Plane } from '../../../src/ends/plane/plane.js';
import { ShardTable } from '../../../src/ends/table.js';
import { MemoryShard } from '../../../src/weights/memory/shard.js';

/** @type {Ends} */
let ends;
/** @type {Worker[]} */
const workers = [];
/** @type {Record<string, (options: any) => Promise<any>>} */
const jobs = { adapter, open, tops, close, estimates };

self.onmessage = async ({ data: { job, ...options } }) => {
  try {
    self.postMessage({ result: await jobs[job](options) });
  } catch (error) {
    const { code, message, stack, cause } = /** @type {any} */ (error);
    self.postMessage({ error: `${code}: ${message} ${cause} ${stack}` });
  }
};

/** What the browser calls its adapter; null: there is none. */
async function adapter() {
  const found = await navigator.gpu?.requestAdapter();
  return found ? `${found.info.vendor} ${found.info.architecture}` : null;
}

/** @param {string} text */
function bytesOf(text) {
  return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
}

/** @param {string} text */
function floatsOf(text) {
  return new Float32Array(bytesOf(text).buffer);
}

/** @param {any} options */
async function open({ table, rows, hidden, dtype, kernel }) {
  const bytes = bytesOf(table);
  const half = rows >> 1;
  const shards = [[0, half], [half, rows]].map(([first, end]) => shardOf(bytes, rows, first, end));
  const kind = { rows, dtype };
  ends = await Ends.open({
    manifest: /** @type {any} */ ({ hiddenSize: hidden, head: kind, embedding: kind }),
    shards: { head: shards, embedding: shards },
    spec: { bias: null, softcap: null, scale: 1, divide: false },
    spawn: () => {
      workers.push(new Worker(new URL('./gpu_ends.js', import.meta.url), { type: 'module' }));
      return workers[workers.length - 1];
    },
    kernel,
    compactFrom: 1,
    session: { gpuLost: false },
  });
  return ends.kernel;
}

/** @param {Uint8Array} bytes @param {number} rows @param {number} first @param {number} end */
function shardOf(bytes, rows, first, end) {
  const rowBytes = bytes.length / rows;
  const own = bytes.slice(first * rowBytes, end * rowBytes);
  const kind = /** @type {const} */ ('memory');
  return { kind, path: ['table', `${first}`], first, rows: end - first, rowBytes, bytes: own };
}

/**
 * Ids of the top of every state, as a shortlist gives it, and the kernel before each; while the one with the
 * number `destroyAt` is made, the GPU goes away.
 * @param {any} options
 */
async function tops({ states, hidden, k, destroyAt }) {
  const all = floatsOf(states);
  const found = [];
  for (let start = 0; start < all.length; start += hidden) {
    const { kernel } = ends;
    const making = ends.head.topAndRest(all.slice(start, start + hidden), k, 1);
    if (start / hidden === destroyAt) workers.forEach((worker) => worker.postMessage('destroy'));
    const made = await making;
    found.push({ kernel, ids: made && [...made.top.ids] });
  }
  return found;
}

async function close() {
  await ends.close();
  workers.length = 0;
}

/**
 * Estimates of WebAssembly and of the GPU for a table f32: bits.
 * @param {any} options `largest`: bytes of a binding
 */
async function estimates({ table, rows, state, packed, largest }) {
  const bytes = bytesOf(table);
  const hidden = bytes.length / rows / 4;
  const dtype = /** @type {const} */ ('f32');
  const layout = layOut({ hidden, rows, dtype, embeddingDtype: dtype, compact: true, biased: false });
  const memory = newMemory(layout.pages);
  const place = { layout, memory, ...(await loadKernels('auto', readBesideBundle, memory)) };
  const reader = new MemoryShard(shardOf(bytes, rows, 0, rows));
  const plane = await Plane.open(new ShardTable(reader, dtype, place), place, 'auto', () => {});
  const deadline = new Deadline(60);
  const device = await requestGpuDevice(navigator.gpu, { software: true, deadline });
  const onGpu = await PlaneOnGpu.copy(device, place, { packed, largest, deadline });
  const hiddenState = floatsOf(state);
  plane.estimate(hiddenState);
  const expected = [...new Uint32Array(plane.estimates.slice().buffer)];
  plane.estimates.fill(0);
  await onGpu.estimate(hiddenState);
  const found = [...new Uint32Array(onGpu.estimates.slice().buffer)];
  const { parts } = /** @type {any} */ (onGpu)._buffers;
  onGpu.close();
  deadline.end();
  return { expected, found, parts: parts.length };
}
