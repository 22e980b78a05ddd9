import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { ShardHead } from '../../src/ends/shard_head.js';
import {
  MemoryReader,
  PLAIN,
  cutToBf16,
  firstOf,
  normal,
  openEnds,
  productsOf,
  uniform,
} from './fixtures.js';

/** @typedef {import('../../src/ends/ends.js').Ends} Ends */
/** @typedef {import('../../src/ends/spec.js').Spec} Spec */

const ROWS = 6001;
const HIDDEN = 96;
const ALSO = [2, 7, 510, 6000, 2];

/** Rows of many sizes, small columns, equal rows, zeros and one huge weight. */
function variedWeights() {
  const next = uniform(3);
  const weights = normal(ROWS * HIDDEN, 1);
  const sizes = Array.from({ length: ROWS }, () => 2 ** (6 * next() - 3));
  for (let i = 0; i < weights.length; i++) {
    const [row, column] = [Math.floor(i / HIDDEN), i % HIDDEN];
    weights[i] *= sizes[row] * (column % 48 ? 1 : 2 ** -6);
    if ((row >= 600 && row < 610) || row === 800) weights[i] = 0;
  }
  for (let row = 500; row < 520; row++) weights.copyWithin(row * HIDDEN, 7 * HIDDEN, 8 * HIDDEN);
  weights[800 * HIDDEN + 3] = 400;
  return cutToBf16(weights);
}

const weights = variedWeights();

/**
 * Random states with large elements where columns are small, rows themselves, zeros, and one column alone.
 */
function states() {
  const large = (/** @type {number} */ value, /** @type {number} */ i) => (i % 48 ? value : value * 64);
  const random = [10, 11, 12].map((seed) => normal(HIDDEN, seed).map(large));
  const own = [17, 5000].map((row) => weights.slice(row * HIDDEN, (row + 1) * HIDDEN));
  const alone = Float32Array.from({ length: HIDDEN }, (_, i) => Number(i === 3));
  return [...random, ...own, new Float32Array(HIDDEN), alone];
}

/** @type {Record<string, Spec>} */
const SPECS = {
  plain: PLAIN,
  bias: { ...PLAIN, bias: normal(ROWS, 9, 4) },
  softcap: { ...PLAIN, softcap: 30 },
  'saturated softcap': { ...PLAIN, softcap: 0.7 },
  divided: { ...PLAIN, scale: 6, divide: true },
  multiplied: { ...PLAIN, scale: 0.0625 },
};

/** Logits by float32 steps from products in float64. @param {Spec} spec @param {Float32Array} state */
function logitsOf({ bias, softcap, scale, divide }, state) {
  return Float32Array.from(productsOf(weights, state), (product, row) => {
    const biased = Math.fround(Math.fround(product) + (bias ? bias[row] : 0));
    const scaled = Math.fround(divide ? biased / scale : biased * scale);
    return softcap ? Math.fround(Math.tanh(Math.fround(scaled / softcap))) * Math.fround(softcap) : scaled;
  });
}

/** Equal but for a rounding. @param {ArrayLike<number>} found @param {number[]} expected */
function assertNear(found, expected) {
  assert.equal(found.length, expected.length);
  expected.forEach((value, i) => assert.ok(Math.abs(found[i] - value) <= 1e-6 * Math.abs(value) + 1e-12));
}

for (const [name, spec] of Object.entries(SPECS)) {
  describe(`a head with ${name}`, () => {
    /** @type {Ends} */
    let ends;
    before(async () => {
      ends = await openEnds(weights, ROWS, { spec, compactFrom: 1, cuts: 3 });
    });
    after(() => ends.close());

    test('its top is that of a full sort', async () => {
      for (const state of states()) {
        const all = await ends.head.logits(state);
        assertNear(all, [...logitsOf(spec, state)]);
        for (const [k, also] of /** @type {[number, number[]][]} */ ([[1, []], [50, ALSO], [400, ALSO]])) {
          const found = await ends.head.top(state, k, Int32Array.from(also));
          const expected = firstOf(all, k, also);
          assert.deepEqual([...found.ids], expected);
          assert.deepEqual([...found.logits], expected.map((id) => all[id]));
          assert.deepEqual([...found.alsoLogits], also.map((id) => all[id]));
        }
      }
    });

    test('the interval of the rest holds its weight', async () => {
      let seen = 0;
      for (const state of states()) {
        for (const [k, temperature] of [[40, 0.7], [256, 1.5]]) {
          const found = await ends.head.topAndRest(state, k, temperature, Int32Array.from(ALSO));
          if (!found) continue;
          seen++;
          const left = new Set([...ALSO, ...found.top.ids]);
          const all = await ends.head.logits(state);
          const [first] = found.top.logits;
          const others = Array.from(all).filter((_, id) => !left.has(id));
          const weight = others.reduce((sum, logit) => sum + Math.exp((logit - first) / temperature), 0);
          const { low, high } = found.rest;
          assert.ok(low <= weight && weight <= high, `${weight} in ${low}..${high}`);
        }
      }
      assert.ok(seen || name === 'saturated softcap');
    });
  });
}

test('where scattered rows are slow to read fewer are read, and the top is the same', async () => {
  const rows = 20_000;
  const plain = cutToBf16(normal(rows * 64, 4));
  const states = Array.from({ length: 30 }, (_, i) => normal(64, 100 + i));
  /** @param {'memory' | 'indexeddb'} kind @param {number} k */
  const readBy = async (kind, k) => {
    /** @type {MemoryReader[]} */
    const readers = [];
    const ends = await openEnds(plain, rows, { compactFrom: 1, kind, readers });
    const count = () => readers.reduce((sum, reader) => sum + reader.rowsRead, 0);
    const before = count();
    for (const state of states) {
      const { ids } = await ends.head.top(state, k);
      assert.deepEqual([...ids], firstOf(productsOf(plain, state), k));
    }
    await ends.close();
    return (count() - before) / states.length;
  };
  for (const [k, most] of [[1, 150], [20, 200], [50, 400]]) {
    const [few, many] = [await readBy('indexeddb', k), await readBy('memory', k)];
    assert.ok(few <= most && few < many, `${few} of ${many} rows for the first ${k}`);
  }
});

for (const noise of [0.3, 1, 3]) {
  test(`estimates that miss by ${noise} of their spread make the shortlist grow`, async (context) => {
    const rows = 20_000;
    const plain = cutToBf16(normal(rows * 64, 4));
    const ends = await openEnds(plain, rows, { compactFrom: 1 });
    const right = ShardHead.prototype.shortlist;
    const requests = context.mock.method(ShardHead.prototype, 'longer');
    context.mock.method(ShardHead.prototype, 'shortlist', noisy);
    /** @this {any} @param {Float32Array} hidden @param {any} wanted */
    async function noisy(hidden, wanted) {
      await right.call(this, hidden, wanted);
      const estimates = /** @type {Float32Array} */ (this._plane.estimates);
      const errors = normal(estimates.length, 8, noise * 8);
      estimates.forEach((value, i) => (estimates[i] = value + errors[i]));
      return this.longer(wanted);
    }
    for (const seed of [20, 21, 22]) {
      const state = normal(64, seed);
      const found = await ends.head.top(state, 50);
      assert.deepEqual([...found.ids], firstOf(productsOf(plain, state), 50));
    }
    assert.ok(requests.mock.calls.some(({ arguments: [{ size }] }) => size >= 4 * 256));
    await ends.close();
  });
}

test('rows full of ties rank by id', async () => {
  const next = uniform(5);
  const ties = Float32Array.from({ length: 5000 * 5 }, () => Math.floor(next() * 5) - 2);
  const ends = await openEnds(ties, 5000, { compactFrom: 1 });
  for (let i = 0; i < 10; i++) {
    const state = Float32Array.from({ length: 5 }, () => Math.floor(next() * 5) - 2);
    const found = await ends.head.top(state, 40, Int32Array.of(1, 2, 77));
    assert.deepEqual([...found.ids], firstOf(productsOf(ties, state), 40, [1, 2, 77]));
  }
  await ends.close();
});

test('more than there is gives all that is left', async () => {
  const ends = await openEnds(weights, ROWS, { compactFrom: 1 });
  const ones = new Float32Array(HIDDEN).fill(1);
  assert.equal((await ends.head.top(ones, ROWS + 5, Int32Array.of(1, 1, 2))).ids.length, ROWS - 2);
  const everything = await ends.head.top(ones, 10, Int32Array.from({ length: ROWS }, (_, id) => id));
  assert.equal(everything.ids.length, 0);
  assert.deepEqual(everything.alsoLogits, await ends.head.logits(ones));
  assert.equal((await ends.head.top(ones, 0)).ids.length, 0);
  await ends.close();
});

test('what overflows is refused by its token', async () => {
  const huge = new Float32Array(3000 * 4);
  huge.fill(Math.fround(3e38), 150 * 4, 151 * 4);
  const ends = await openEnds(cutToBf16(huge), 3000, { compactFrom: 1 });
  await assert.rejects(ends.head.top(new Float32Array(4).fill(10), 2), {
    code: 'non_finite_logits',
    message: /token 150 /,
  });
  await ends.close();
});

test('bad hidden states and foreign ids are refused, and the head goes on', async () => {
  const ends = await openEnds(weights, ROWS, { compactFrom: 1 });
  for (const hidden of [new Float32Array(HIDDEN - 1), new Float32Array(HIDDEN).fill(NaN)]) {
    const refused = { code: 'invalid_hidden_state' };
    await assert.rejects(ends.head.logits(hidden), refused);
    await assert.rejects(ends.head.top(hidden, 1), refused);
    await assert.rejects(ends.head.topAndRest(hidden, 1, 1), refused);
  }
  const foreign = { code: 'token_id_out_of_range' };
  await assert.rejects(ends.head.top(new Float32Array(HIDDEN), 1, Int32Array.of(ROWS)), foreign);
  assert.equal((await ends.head.top(new Float32Array(HIDDEN), 1)).ids[0], 0);
  await ends.close();
});

test('calls that overlap take their turn', async () => {
  const ends = await openEnds(weights, ROWS, { compactFrom: 1 });
  const some = states().slice(0, 3);
  const together = await Promise.all(some.map((state) => ends.head.top(state, 50)));
  for (const [i, state] of some.entries()) assert.deepEqual(together[i], await ends.head.top(state, 50));
  await ends.close();
});

test('a store that answers later gives the same', async (context) => {
  const { readRows } = MemoryReader.prototype;
  context.mock.method(MemoryReader.prototype, 'readRows', readLater);
  /** @this {MemoryReader} @param {Int32Array} indices @param {Uint8Array} into */
  async function readLater(indices, into) {
    await new Promise((resolve) => setImmediate(resolve));
    readRows.call(this, indices, into);
  }
  const ends = await openEnds(weights, ROWS, { compactFrom: 1 });
  for (const state of states()) {
    const found = await ends.head.top(state, 50, Int32Array.from(ALSO));
    assert.deepEqual([...found.ids], firstOf(await ends.head.logits(state), 50, ALSO));
  }
  await ends.close();
});
