import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MemoryReader, cutToBf16, firstOf, normal, openEnds, productsOf } from '../fixtures.js';

const ROWS = 6001;
const HIDDEN = 96;
const weights = cutToBf16(normal(ROWS * HIDDEN, 1, 0.02));
const state = normal(HIDDEN, 2);
const expected = firstOf(productsOf(weights, state), 50);

test('a plane is derived once, and derived again where its file is damaged', async () => {
  const derived = new Map();
  const starts = /** @type {const} */ ([[null, true], [null, false], [7777, true], [3, true]]);
  for (const [damage, rebuilt] of starts) {
    if (damage !== null) derived.get('plane-1@0')[damage] ^= 1;
    const before = derived.get('plane-1@0');
    const ends = await openEnds(weights, ROWS, { derived, compactFrom: 1 });
    assert.equal(derived.get('plane-1@0') !== before, rebuilt);
    assert.deepEqual([...(await ends.head.top(state, 50)).ids], expected);
    await ends.close();
  }
  assert.equal(derived.size, 2);
});

test('progress rises to 1 while planes are derived', async () => {
  /** @type {number[]} */
  const seen = [];
  const onPrepare = (/** @type {number} */ fraction) => seen.push(fraction);
  const ends = await openEnds(weights, ROWS, { compactFrom: 1, onPrepare });
  assert.equal(seen.at(-1), 1);
  assert.deepEqual(seen, [...seen].sort((a, b) => a - b));
  await ends.close();
});

test('a store that is full costs nothing but the next start', async (context) => {
  context.mock.method(MemoryReader.prototype, 'createDerived', async () => {
    throw new Error('full');
  });
  const ends = await openEnds(weights, ROWS, { compactFrom: 1 });
  assert.deepEqual([...(await ends.head.top(state, 50)).ids], expected);
  await ends.close();
});

test('a store that keeps no derived files is no error', async (context) => {
  context.mock.method(MemoryReader.prototype, 'createDerived', async () => null);
  const ends = await openEnds(weights, ROWS, { compactFrom: 1 });
  assert.deepEqual([...(await ends.head.top(state, 50)).ids], expected);
  await ends.close();
});

test('a plane that cannot be read, as when another tab makes it anew, is derived', async (context) => {
  const derived = new Map();
  await (await openEnds(weights, ROWS, { derived, compactFrom: 1 })).close();
  context.mock.method(MemoryReader.prototype, 'openDerived', async () => ({
    read: async () => {
      throw new Error('gone');
    },
    close: () => {},
  }));
  const ends = await openEnds(weights, ROWS, { derived, compactFrom: 1 });
  assert.deepEqual([...(await ends.head.top(state, 50)).ids], expected);
  await ends.close();
});

test('what a damaged file leaves behind its last row does not cost every token a full product', async () => {
  const derived = new Map();
  await (await openEnds(weights, ROWS, { derived, compactFrom: 1 })).close();
  for (const bytes of derived.values()) bytes.fill(0xff, bytes.length - 48);
  /** @type {MemoryReader[]} */
  const readers = [];
  const ends = await openEnds(weights, ROWS, { derived, compactFrom: 1, readers });
  for (const reader of readers) reader.rowsRead = 0;
  await ends.head.top(state, 50);
  const read = readers.reduce((sum, reader) => sum + reader.rowsRead, 0);
  assert.ok(read <= 513, `${read} rows`);
  await ends.close();
});

for (const row of [5, ROWS - 1]) {
  test(`a weight in row ${row} that is not finite is named by its row`, async () => {
    const damaged = weights.slice();
    damaged[row * HIDDEN + 7] = NaN;
    await assert.rejects(openEnds(damaged, ROWS, { compactFrom: 1 }), {
      code: 'weights_not_finite',
      message: new RegExp(`row ${row} `),
    });
  });
}

test('a shortlist reads 512 rows and the others not', async () => {
  /** @type {MemoryReader[]} */
  const readers = [];
  const ends = await openEnds(weights, ROWS, { compactFrom: 1, readers });
  for (const reader of readers) reader.rowsRead = 0;
  await ends.head.top(state, 50);
  const read = readers.reduce((sum, reader) => sum + reader.rowsRead, 0);
  assert.ok(read >= 512 && read <= 513, `${read} rows`);
  await ends.close();
});
