import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Ends } from '../../src/ends/ends.js';
import { Here } from '../../src/ends/here.js';
import { MemoryReader, PLAIN, asBf16, cut, cutToBf16, firstOf, normal, productsOf, readModule } from './fixtures.js';

const ROWS = 500;
const HIDDEN = 24;
const weights = cutToBf16(normal(ROWS * HIDDEN, 1));
const state = normal(HIDDEN, 2);
const NONE = 'no worker in this test';

/** @param {{cuts?: number, compactFrom?: number, here?: any}} [options] */
function opened({ cuts = 1, compactFrom, here } = {}) {
  /** @type {MemoryReader[]} */
  const readers = [];
  const openShard = async (/** @type {any} */ descriptor) => {
    readers.push(new MemoryReader(descriptor));
    return readers[readers.length - 1];
  };
  const Own = class extends Here {
    constructor() {
      super({ openShard, readModule });
    }
  };
  const shards = cut(new Uint8Array(asBf16(weights).buffer), ROWS, cuts);
  const table = { rows: ROWS, dtype: 'bf16' };
  const manifest = /** @type {any} */ ({ hiddenSize: HIDDEN, head: table, embedding: table });
  const options = { manifest, shards: { head: shards, embedding: shards }, spec: PLAIN, compactFrom };
  return { readers, ends: Ends.open({ ...options, here: here ?? (async () => ({ Here: Own })) }) };
}

/** Runs `work` where every worker that is wanted is counted, and none can be had. @param {() => Promise<unknown>} work */
async function workersWantedBy(work) {
  let wanted = 0;
  const before = globalThis.Worker;
  globalThis.Worker = /** @type {any} */ (
    class {
      constructor() {
        wanted += 1;
        throw new Error(NONE);
      }
    }
  );
  try {
    await work().catch((error) => {
      if (error.message !== NONE) throw error;
    });
  } finally {
    globalThis.Worker = before;
  }
  return wanted;
}

test('a small head in one part needs no worker, and chooses as one does', async () => {
  const wanted = await workersWantedBy(async () => {
    const ends = await opened().ends;
    const found = await ends.head.top(state, 20, Int32Array.of(3));
    assert.deepEqual([...found.ids], firstOf(productsOf(weights, state), 20, [3]));
    const rows = await ends.rows(Int32Array.of(7, 0));
    assert.deepEqual(rows.slice(0, HIDDEN), weights.slice(7 * HIDDEN, 8 * HIDDEN));
    await assert.rejects(ends.rows(Int32Array.of(ROWS)), { code: 'token_id_out_of_range' });
    await ends.close();
  });
  assert.equal(wanted, 0);
});

test('heads in several parts, or large ones, have workers', async () => {
  assert.equal(await workersWantedBy(() => opened({ cuts: 2 }).ends), 1);
  assert.equal(await workersWantedBy(() => opened({ compactFrom: ROWS * HIDDEN }).ends), 1);
});

test('where its file cannot be had there is a worker', async () => {
  const here = () => Promise.reject(new TypeError('the file is gone'));
  assert.equal(await workersWantedBy(() => opened({ here }).ends), 1);
});

test('closing lets go of the files, and what is asked later is refused', async () => {
  const { readers, ends: opening } = opened();
  const ends = await opening;
  await ends.close();
  assert.deepEqual(readers.map(({ closed }) => closed), [true]);
  await assert.rejects(ends.rows(Int32Array.of(1)), { code: 'ends_failed' });
});
