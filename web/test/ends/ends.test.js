import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Ends } from '../../src/ends/ends.js';
import {
  LocalWorker,
  MemoryReader,
  PLAIN,
  cut,
  cutToBf16,
  firstOf,
  hasRelaxed,
  normal,
  openEnds,
  productsOf,
} from './fixtures.js';

const ROWS = 1000;
const HIDDEN = 24;
const weights = cutToBf16(normal(ROWS * HIDDEN, 1));
const state = normal(HIDDEN, 2);

function spawn() {
  return /** @type {any} */ (new LocalWorker(async (descriptor) => new MemoryReader(descriptor)));
}

test('embedding rows come in the order of their ids, from whichever shard', async () => {
  const ends = await openEnds(weights, ROWS, { cuts: 3 });
  const ids = Int32Array.of(999, 0, 5, 600, 5);
  const rows = await ends.rows(ids);
  ids.forEach((id, i) =>
    assert.deepEqual(rows.slice(i * HIDDEN, (i + 1) * HIDDEN), weights.slice(id * HIDDEN, (id + 1) * HIDDEN)),
  );
  assert.equal((await ends.rows(new Int32Array())).length, 0);
  await assert.rejects(ends.rows(Int32Array.of(ROWS)), { code: 'token_id_out_of_range' });
  await ends.close();
});

test('a small matrix has no plane and stays in memory', async () => {
  const derived = new Map();
  /** @type {MemoryReader[]} */
  const readers = [];
  const ends = await openEnds(weights, ROWS, { derived, readers });
  for (const reader of readers) reader.rowsRead = 0;
  const found = await ends.head.top(state, 50, Int32Array.of(3));
  assert.deepEqual([...found.ids], firstOf(productsOf(weights, state), 50, [3]));
  assert.equal(await ends.head.topAndRest(state, 50, 1), null);
  assert.deepEqual([derived.size, readers.map((reader) => reader.rowsRead)], [0, [0, 0]]);
  await ends.close();
});

test('tables of their own, dtypes and numbers of shards of their own', async () => {
  const embedding = cut(new Uint8Array(normal(300 * HIDDEN, 5).buffer), 300, 3, 'embedding');
  const bits = Uint16Array.from({ length: ROWS * HIDDEN }, (_, i) => 0x3c00 + (i % 512));
  const head = cut(new Uint8Array(bits.buffer), ROWS, 1);
  const manifest = /** @type {any} */ ({
    hiddenSize: HIDDEN,
    head: { rows: ROWS, dtype: 'f16' },
    embedding: { rows: 300, dtype: 'f32' },
  });
  const ends = await Ends.open({ manifest, shards: { head, embedding }, spec: PLAIN, spawn });
  assert.equal(ends.workers, 3);
  const rows = await ends.rows(Int32Array.of(299, 1));
  assert.deepEqual(rows.subarray(0, HIDDEN), normal(300 * HIDDEN, 5).subarray(299 * HIDDEN));
  const expected = 1 + ((7 * HIDDEN) % 512) / 1024;
  const one = Float32Array.from({ length: HIDDEN }, (_, i) => Number(i === 0));
  assert.equal((await ends.head.logits(one))[7], expected);
  await ends.close();
});

test('an embedding row that is not finite is refused when it is looked up', async () => {
  const damaged = weights.slice();
  damaged[700 * HIDDEN] = Infinity;
  const ends = await openEnds(damaged, ROWS);
  await assert.rejects(ends.rows(Int32Array.of(1, 700)), { code: 'weights_not_finite', message: /row 700 / });
  await ends.close();
});

for (const [name, spec] of Object.entries({
  'a bias of another length': { ...PLAIN, bias: new Float32Array(3) },
  'a bias that is not finite': { ...PLAIN, bias: new Float32Array(ROWS).fill(NaN) },
  'a scale out of range': { ...PLAIN, scale: 0 },
  'a softcap out of range': { ...PLAIN, softcap: 1e9 },
})) {
  test(`${name} is refused`, async () => {
    await assert.rejects(openEnds(weights, ROWS, { spec }), { code: 'invalid_head_spec' });
  });
}

test('shards that do not cover the table, or have rows of another size, are refused', async () => {
  const shards = cut(new Uint8Array(weights.buffer), ROWS, 2);
  const table = { rows: ROWS, dtype: 'bf16' };
  const manifest = /** @type {any} */ ({ hiddenSize: HIDDEN, head: table, embedding: table });
  for (const some of [shards.slice(1), shards.slice(0, 1), [], shards]) {
    const opening = Ends.open({ manifest, shards: { head: some, embedding: some }, spec: PLAIN, spawn });
    await assert.rejects(opening, { code: 'weights_size_mismatch' });
  }
});

test('a worker that dies ends all, and what waits is rejected; they can be opened again', async () => {
  /** @type {LocalWorker[]} */
  const workers = [];
  const ends = await openEnds(weights, ROWS, { workers });
  const waiting = ends.head.top(state, 5);
  const alsoWaiting = ends.rows(Int32Array.of(1));
  await Promise.resolve();
  workers[1].onerror({});
  await assert.rejects(waiting, { code: 'ends_failed', retryable: true });
  await assert.rejects(alsoWaiting, { code: 'ends_failed' });
  await assert.rejects(ends.head.logits(state), { code: 'ends_failed' });
  assert.ok(workers.every((worker) => worker.terminated));
  await ends.close();
  const again = await openEnds(weights, ROWS);
  assert.equal((await again.head.top(state, 5)).ids.length, 5);
  await again.close();
});

test('a worker that hangs counts as dead when its patience has ended', async () => {
  /** @type {LocalWorker[]} */
  const workers = [];
  const ends = await openEnds(weights, ROWS, { workers, patience: 0.05 });
  workers[0].postMessage = () => {};
  await assert.rejects(ends.head.top(state, 5), { code: 'ends_failed', message: /hangs/ });
});

test('a reader that fails is an ends_failed without its words, an error with a code keeps it', async () => {
  const manifest = /** @type {any} */ ({
    hiddenSize: HIDDEN,
    head: { rows: ROWS, dtype: 'bf16' },
    embedding: { rows: ROWS, dtype: 'bf16' },
  });
  const shards = cut(new Uint8Array(weights.buffer, 0, ROWS * HIDDEN * 2), ROWS, 1);
  const failing = (/** @type {Error} */ error) => () =>
    /** @type {any} */ (new LocalWorker(() => Promise.reject(error)));
  const open = (/** @type {() => Worker} */ spawn) =>
    Ends.open({ manifest, shards: { head: shards, embedding: shards }, spec: PLAIN, spawn });
  await assert.rejects(open(failing(new Error('secret'))), (/** @type {any} */ error) =>
    error.code === 'ends_failed' && !error.message.includes('secret'));
  await assert.rejects(open(failing(new RangeError('memory'))), { code: 'ends_failed', message: /memory/ });
});

test('closing frees the files and ends the workers', async () => {
  /** @type {MemoryReader[]} */
  const readers = [];
  /** @type {LocalWorker[]} */
  const workers = [];
  const ends = await openEnds(weights, ROWS, { readers, workers });
  await ends.close();
  assert.ok(readers.length === 2 && readers.every((reader) => reader.closed));
  assert.ok(workers.every((worker) => worker.terminated));
  await assert.rejects(ends.rows(Int32Array.of(1)), { code: 'ends_failed' });
  await ends.close();
});

test('the kernels are the best that there are, or those that were asked for', async () => {
  for (const kernel of /** @type {const} */ (['simd', 'auto'])) {
    const ends = await openEnds(weights, ROWS, { kernel });
    assert.equal(ends.kernel, kernel === 'auto' && (await hasRelaxed()) ? 'relaxed' : 'simd');
    await ends.close();
  }
});
