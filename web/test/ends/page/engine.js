// A worker that uses ends.js as the app's engine does, over tables that it is given.
import { Ends } from '../../../src/ends/ends.js';
import { atHand } from '../../../src/ends/far_rows.js';
import { writeActivation } from '../../../src/ends/plane/activation.js';
import { loadKernels, newMemory, readBesideBundle } from '../../../src/ends/kernels.js';
import { layOut } from '../../../src/ends/plane/layout.js';
import { openShard } from '../../../src/weights/shard.js';

/** @type {Ends} */
let ends;
/** @type {Record<string, (options: any) => Promise<any>>} */
const jobs = { open, tops, close, estimates, failure, kept };

self.onmessage = async ({ data: { job, ...options } }) => {
  try {
    self.postMessage({ result: await jobs[job](options) });
  } catch (error) {
    const { code, message } = /** @type {any} */ (error);
    self.postMessage({ error: `${code}: ${message}` });
  }
};

/** @param {string} text */
function bytesOf(text) {
  return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
}

/** @param {string} text */
function floatsOf(text) {
  return new Float32Array(bytesOf(text).buffer);
}

/** @param {any} options */
async function open({ table, rows, hidden, dtype, kernel, compactFrom }) {
  const bytes = bytesOf(table);
  const rowBytes = bytes.length / rows;
  const half = rows >> 1;
  const shards = [[0, half], [half, rows]].map(([first, end]) => ({
    kind: /** @type {const} */ ('memory'),
    path: ['table', `${first}`],
    first,
    rows: end - first,
    rowBytes,
    bytes: bytes.slice(first * rowBytes, end * rowBytes),
  }));
  const kind = { rows, dtype };
  ends = await Ends.open({
    manifest: /** @type {any} */ ({ hiddenSize: hidden, head: kind, embedding: kind }),
    shards: { head: shards, embedding: shards },
    spec: { bias: null, softcap: null, scale: 1, divide: false },
    kernel,
    compactFrom,
  });
  return { kernel: ends.kernel, workers: ends.workers };
}

/** The top of every state, as a shortlist gives it; null where it needs every row. @param {any} options */
async function tops({ states, hidden, k }) {
  const all = floatsOf(states);
  const found = [];
  for (let start = 0; start < all.length; start += hidden) {
    const state = all.slice(start, start + hidden);
    const screened = await ends.head.topAndRest(state, k, 1);
    found.push(screened && { ids: [...screened.top.ids], logits: [...screened.top.logits] });
  }
  return found;
}

async function close() {
  await ends.close();
}

/** What an answer says once the ends are closed. */
async function failure() {
  return ends.rows(Int32Array.of(0)).then(() => 'none', (/** @type {any} */ error) => error.code);
}

/** The estimates of every kernel for random bytes as a plane. @param {any} options */
async function estimates({ hidden, rows }) {
  const layout = layOut({ hidden, rows, dtype: 'f16', embeddingDtype: 'f16', compact: true, biased: false });
  const memory = newMemory(layout.pages);
  const { kernels } = await loadKernels('relaxed', readBesideBundle, memory);
  const length = layout.planeFile + layout.planeBytes - layout.planeRows;
  const plane = new Uint8Array(memory.buffer, layout.planeRows, length);
  for (let i = 0; i < plane.length; i++) plane[i] = (Math.imul(i, 0x9e3779b1) >>> 13) & 0x3f;
  const state = Float32Array.from({ length: hidden }, (_, i) => Math.sin(i * i));
  const { bytes8, words16, padded, factors, blocks } = layout;
  writeActivation(state, new Float32Array(padded).fill(1), {
    bytes: new Int8Array(memory.buffer, bytes8, padded),
    words: new Int16Array(memory.buffer, words16, padded),
    factors: new DataView(memory.buffer, factors, 8 * blocks),
  });
  const { estimate: plain, estimateByPairs, estimateByFours } = kernels;
  const each = [[plain, words16], [estimateByPairs, bytes8], [estimateByFours, bytes8]];
  return each.map(([estimate, x]) => {
    const { planeRows, estimates: target } = layout;
    /** @type {any} */ (estimate)(planeRows, rows, blocks, x, factors, target);
    return [...new Uint32Array(memory.buffer, target, rows)];
  });
}

/** Whether rows of a file of this window are kept in memory to be at hand, and what they are. */
async function kept() {
  const [rows, rowBytes] = [1024, 1152];
  const bytes = Uint8Array.from({ length: rows * rowBytes }, (_, i) => Math.imul(i, 0x9e3779b1) >>> 24);
  const folder = await (await navigator.storage.getDirectory()).getDirectoryHandle('tables', { create: true });
  const file = await folder.getFileHandle('rows', { create: true });
  const handle = await file.createSyncAccessHandle();
  handle.write(bytes, { at: 0 });
  handle.close();
  const stored = await openShard({ kind: 'opfs', path: ['tables', 'rows'], first: 0, rows, rowBytes });
  const { reader } = await atHand(stored, 2);
  const found = new Uint8Array(2 * rowBytes);
  await reader.readRows(Int32Array.of(1000, 3), found);
  reader.close();
  const same = [1000, 3].every((row, i) =>
    found.subarray(i * rowBytes, (i + 1) * rowBytes).every((byte, at) => byte === bytes[row * rowBytes + at]),
  );
  return { kept: reader !== stored, same };
}
