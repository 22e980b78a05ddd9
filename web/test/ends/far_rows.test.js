import assert from 'node:assert/strict';
import { beforeEach, describe, test } from 'node:test';
import { atHand } from '../../src/ends/far_rows.js';
import { FarReader, MemoryReader, cutToBf16, firstOf, normal, openEnds, productsOf, uniform } from './fixtures.js';

const ROWS = 4096;
const HIDDEN = 192;
const PREFERRED = 25.2;

/** A state of the size that trained models give, about 42. */
const state = normal(HIDDEN, 2, 3);
const weights = trainedWeights();
const table = { rows: ROWS, hidden: HIDDEN };

/**
 * Rows whose logits fall as those of a trained model do: 25.2 - 2.05 ln(rank) down to the bulk, about 3.4 (what
 * SmolLM2-135M's median is over 396 states), beside noise that makes each row about 3 long.
 */
function trainedWeights() {
  const all = normal(ROWS * HIDDEN, 1, 3.1 / Math.sqrt(HIDDEN));
  const square = state.reduce((sum, value) => sum + value * value, 0);
  const next = uniform(5);
  const bulk = normal(ROWS, 6, 3);
  for (let row = 0; row < ROWS; row++) {
    const own = all.subarray(row * HIDDEN, (row + 1) * HIDDEN);
    const rank = 1 + ((row * 1021) % ROWS);
    const logit = rank <= 1024 ? PREFERRED - 2.05 * Math.log(rank + next() / 4) : Math.min(10, 3.4 + bulk[row]);
    const product = own.reduce((sum, value, i) => sum + value * state[i], 0);
    for (let i = 0; i < HIDDEN; i++) own[i] += ((logit - product) / square) * state[i];
  }
  return cutToBf16(all);
}

/** A shard of a store that answers as `Reader` does. @param {typeof MemoryReader} Reader */
function readerOf(Reader, derived = new Map()) {
  const bytes = new Uint8Array(64 * 8).map((_, i) => i * 7);
  return new Reader({ kind: 'memory', path: ['table', '0'], first: 100, rows: 64, rowBytes: 8, bytes }, derived);
}

/** What `reader` gives for rows, one of them twice. @param {any} reader @param {number[]} rows */
async function bytesOf(reader, rows) {
  const into = new Uint8Array(rows.length * 8);
  await reader.readRows(Int32Array.from(rows), into);
  return into;
}

beforeEach(() => {
  FarReader.calls = 0;
  FarReader.milliseconds = 0;
});

test('a token of a trained model reads a shortlist and not every row', async () => {
  /** @type {MemoryReader[]} */
  const readers = [];
  const ends = await openEnds(weights, ROWS, { compactFrom: 1, readers });
  for (const k of [1, 2, 4]) {
    for (const reader of readers) reader.rowsRead = 0;
    const { ids } = await ends.head.top(state, k);
    assert.deepEqual([...ids], firstOf(productsOf(weights, state), k));
    assert.equal(readers.reduce((sum, { rowsRead }) => sum + rowsRead, 0), 512);
  }
  await ends.close();
});

describe('a store each of whose calls takes long', () => {
  /** @param {number} keptBytes */
  const opened = (keptBytes) => {
    const surroundings = { clock: FarReader.clock, keptBytes };
    return openEnds(weights, ROWS, { compactFrom: 1, Reader: FarReader, means: { surroundings } });
  };

  test('is not asked for a token where the table has room in memory', async () => {
    const ends = await opened(2 * table.rows * table.hidden);
    FarReader.calls = 0;
    for (const k of [2, 50]) {
      assert.deepEqual([...(await ends.head.top(state, k)).ids], firstOf(productsOf(weights, state), k));
    }
    const row = await ends.rows(Int32Array.of(4000));
    assert.deepEqual(row, weights.slice(4000 * HIDDEN, 4001 * HIDDEN));
    assert.deepEqual([FarReader.calls, ends.head.scarce], [0, false]);
    await ends.close();
  });

  test('is asked for few rows where it has not, and once for each', async () => {
    const ends = await opened(table.rows * table.hidden);
    const expected = firstOf(productsOf(weights, state), 2);
    FarReader.calls = 0;
    assert.deepEqual([...(await ends.head.top(state, 2)).ids], expected);
    assert.deepEqual([FarReader.calls, ends.head.scarce], [2, true]);
    assert.deepEqual([...(await ends.head.top(state, 2)).ids], expected);
    assert.equal(FarReader.calls, 2);
    await ends.close();
  });
});

test('a store that answers at once is read as it is, and so is one that was slow for a while', async () => {
  const near = readerOf(MemoryReader);
  assert.deepEqual(await atHand(near, 2), { reader: near, scarce: false });
  const far = readerOf(FarReader);
  const lapsOf = [100, 100.1];
  const clock = () => lapsOf.shift() ?? 200;
  assert.deepEqual(await atHand(far, 2, { clock }), { reader: far, scarce: false });
});

test('rows in memory are those of the store, and files beside it stay there', async () => {
  const rows = [63, 0, 5, 6, 5];
  const expected = await bytesOf(readerOf(MemoryReader), rows);
  for (const keptBytes of [64 * 8, 8 * 8, 1]) {
    const derived = new Map();
    const stored = readerOf(FarReader, derived);
    const { reader } = await atHand(stored, 1, { clock: FarReader.clock, keptBytes });
    assert.notEqual(reader, stored);
    assert.deepEqual([reader.first, reader.rows, reader.rowBytes], [100, 64, 8]);
    for (let time = 0; time < 3; time++) assert.deepEqual(await bytesOf(reader, rows), expected);
    const range = new Uint8Array(16);
    await reader.readRange(5, 2, range);
    assert.deepEqual(range, expected.subarray(16, 32));
    await (await reader.createDerived('plane-1', 4))?.seal();
    assert.ok(await reader.openDerived('plane-1', 4));
    assert.equal(derived.size, 1);
    reader.close();
    assert.ok(stored.closed);
  }
});

test('a row beyond those in memory is refused', async () => {
  const { reader } = await atHand(readerOf(FarReader), 1, { clock: FarReader.clock });
  await assert.rejects(async () => bytesOf(reader, [64]), RangeError);
  assert.throws(() => reader.readRange(60, 5, new Uint8Array(64)), RangeError);
});

test('without the memory for it rows are read from the store', async () => {
  const surroundings = { clock: FarReader.clock, keptBytes: Infinity };
  const endless = Object.defineProperty(readerOf(FarReader), 'rows', { value: 2 ** 50 });
  endless.readRows = () => void (FarReader.milliseconds += 0.3);
  assert.deepEqual(await atHand(endless, 1, surroundings), { reader: endless, scarce: true });
});

test('a store that fails meanwhile says so', async () => {
  const failing = readerOf(FarReader);
  failing.readRange = async () => {
    throw Object.assign(new Error('gone'), { code: 'store_failed' });
  };
  await assert.rejects(atHand(failing, 1, { clock: FarReader.clock }), { code: 'store_failed' });
});
