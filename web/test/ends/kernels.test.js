import assert from 'node:assert/strict';
import { test } from 'node:test';
import { writeActivation } from '../../src/ends/plane/activation.js';
import { loadKernels, newMemory } from '../../src/ends/kernels.js';
import { layOut } from '../../src/ends/plane/layout.js';
import { hasRelaxed, normal, productsOf, readModule, uniform } from './fixtures.js';

/** @param {number} hidden @param {number} rows @param {'auto' | 'simd'} [choice] */
async function place(hidden, rows, choice = 'auto') {
  const layout = layOut({ hidden, rows, dtype: 'f32', embeddingDtype: 'f16', compact: true, biased: true });
  const memory = newMemory(layout.pages);
  return { layout, memory, ...(await loadKernels(choice, readModule, memory)) };
}

/** The value of f16 bits by IEEE 754. @param {number} bits */
function half(bits) {
  const sign = bits & 0x8000 ? -1 : 1;
  const exponent = (bits >> 10) & 31;
  const fraction = (bits & 1023) / 1024;
  if (exponent === 31) return fraction ? NaN : sign * Infinity;
  return sign * (exponent ? (1 + fraction) * 2 ** (exponent - 15) : fraction * 2 ** -14);
}

test('every f16 value widens exactly, the odd one at the end too', async () => {
  const { layout, memory, kernels } = await place(64, 400);
  const bits = Uint16Array.from({ length: 65535 }, (_, i) => i + 1);
  new Uint16Array(memory.buffer, layout.raw, bits.length).set(bits);
  kernels.widen(1, layout.raw, bits.length, layout.raw + 2 ** 18);
  const wide = new Float32Array(memory.buffer, layout.raw + 2 ** 18, bits.length);
  bits.forEach((value, i) => assert.ok(Object.is(wide[i], half(value)), `bits ${value}`));
});

test('every bf16 value widens to the f32 that it is the upper half of', async () => {
  const { layout, memory, kernels } = await place(64, 400);
  const bits = Uint16Array.from({ length: 65535 }, (_, i) => i);
  new Uint16Array(memory.buffer, layout.raw, bits.length).set(bits);
  kernels.widen(2, layout.raw, bits.length, layout.raw + 2 ** 18);
  const wide = new Uint32Array(memory.buffer, layout.raw + 2 ** 18, bits.length);
  bits.forEach((value, i) => assert.equal(wide[i], value * 65536));
});

/** The order of summation of wasm/rows.ts. @param {Float32Array} row @param {Float32Array} hidden */
function dot(row, hidden) {
  const sums = new Float64Array(8);
  const whole = row.length & ~7;
  for (let i = 0; i < whole; i++) sums[i % 8] += row[i] * hidden[i];
  const [a, b, c, d, e, f, g, h] = sums;
  let sum = a + b + (c + d) + (e + f + (g + h));
  for (let i = whole; i < row.length; i++) sum += row[i] * hidden[i];
  return Math.fround(sum);
}

for (const hidden of [5, 64, 211]) {
  test(`products of rows of ${hidden} are float64 sums in the promised order, rounded once`, async () => {
    const { layout, memory, kernels } = await place(hidden, 400);
    const rows = normal(30 * hidden, 1);
    const state = normal(hidden, 2);
    new Float32Array(memory.buffer, layout.raw, rows.length).set(rows);
    new Float64Array(memory.buffer, layout.hidden64, hidden).set(state);
    kernels.products(0, layout.raw, 30, hidden, layout.hidden64, layout.rowScratch, layout.products);
    const found = new Float32Array(memory.buffer, layout.products, 30);
    const truth = productsOf(rows, state);
    found.forEach((product, row) => {
      assert.equal(product, dot(rows.subarray(row * hidden, (row + 1) * hidden), state));
      assert.ok(Math.abs(product - truth[row]) <= Math.abs(truth[row]) * 2 ** -24 + 2 ** -40);
    });
  });
}

test('the first value that is not finite is found', async () => {
  const { layout, memory, kernels } = await place(64, 400);
  const values = new Float32Array(memory.buffer, layout.raw, 100);
  assert.equal(kernels.firstNonFinite(layout.raw, 100), -1);
  values[71] = NaN;
  assert.equal(kernels.firstNonFinite(layout.raw, 100), 71);
  values[3] = -Infinity;
  assert.equal(kernels.firstNonFinite(layout.raw, 100), 3);
});

/**
 * Random levels and scales in a plane, and what they stand for.
 * @param {Awaited<ReturnType<typeof place>>} at @param {number} rows
 */
function randomPlane({ layout, memory }, rows) {
  const next = uniform(3);
  const weights = new Float32Array(rows * layout.padded);
  const plane = new DataView(memory.buffer, layout.planeRows);
  for (let row = 0; row < rows; row++) {
    for (let block = 0; block < layout.blocks; block++) {
      const start = ((row >> 3) * layout.blocks + block) * 272;
      const [bits, scale] = next() < 0.5 ? [0x3c80, 0.015625] : [0xbd20, -0.0390625];
      plane.setUint16(start + 256 + 4 * (row & 3) + (row & 4) / 2, bits, true);
      for (let column = 0; column < 64; column++) {
        const level = Math.floor(next() * 16);
        const at = start + 32 * (column >> 3) + 4 * (row & 7) + (column & 3);
        plane.setUint8(at, plane.getUint8(at) | (level << (column & 4)));
        weights[row * layout.padded + 64 * block + column] = (level - 8) * scale;
      }
    }
  }
  return weights;
}

for (const hidden of [64, 130, 896]) {
  test(`all kernels of this node give the same bits for ${hidden} columns`, async () => {
    const rows = 40;
    const at = await place(hidden, rows);
    const { layout, memory, kernels } = at;
    const weights = randomPlane(at, rows);
    const state = normal(hidden, 4);
    const columns = new Float32Array(layout.padded).fill(1);
    const views = {
      bytes: new Int8Array(memory.buffer, layout.bytes8, layout.padded),
      words: new Int16Array(memory.buffer, layout.words16, layout.padded),
      factors: new DataView(memory.buffer, layout.factors, 8 * layout.blocks),
    };
    writeActivation(state, columns, views);
    const { estimate, estimateByPairs, estimateByFours } = kernels;
    const results = [estimate, estimateByPairs, estimateByFours].filter(Boolean).map((kernel = estimate) => {
      const x = kernel === estimate ? layout.words16 : layout.bytes8;
      const { planeRows, blocks, factors, estimates } = layout;
      kernel(planeRows, rows, blocks, x, factors, estimates);
      return new Float32Array(memory.buffer, estimates, rows).slice();
    });
    assert.equal(results.length, (await hasRelaxed()) ? 3 : 1);
    for (const result of results) assert.deepEqual(result, results[0]);
    const padded = new Float32Array(layout.padded);
    padded.set(state);
    const truth = productsOf(weights, padded);
    const norm = Math.hypot(...truth);
    assert.ok(Math.hypot(...truth.map((value, i) => value - results[0][i])) < 0.01 * norm);
  });
}

test('the largest estimates are selected, whatever the size', async () => {
  const rows = 1003;
  const { layout, memory, kernels } = await place(64, rows);
  const estimates = new Float32Array(memory.buffer, layout.estimates, rows);
  estimates.set(normal(rows, 5));
  estimates[17] = -Infinity;
  const order = Array.from(estimates, (_, i) => i).sort((a, b) => estimates[b] - estimates[a]);
  for (const size of [1, 2, 16, 500, 1002]) {
    kernels.select(layout.estimates, rows, size, layout.heapValues, layout.heapIds);
    const ids = [...new Int32Array(memory.buffer, layout.heapIds, size)].sort((a, b) => a - b);
    assert.deepEqual(ids, order.slice(0, size).sort((a, b) => a - b));
    const [lowest] = new Float32Array(memory.buffer, layout.heapValues, 1);
    assert.equal(lowest, estimates[order[size - 1]]);
  }
});

for (const cap of [0, 20]) {
  test(`weights of estimates equal sums of exponentials in float64, cap ${cap}`, async () => {
    const rows = 1001;
    const { layout, memory, kernels } = await place(64, rows);
    const estimates = new Float32Array(memory.buffer, layout.estimates, rows);
    estimates.set(normal(rows, 6, 30));
    estimates[5] = -Infinity;
    const finish = (/** @type {number} */ value) =>
      cap ? Math.tanh((value * 0.5) / cap) * cap : value * 0.5;
    for (const temperature of [0.3, 1, 5]) {
      const found = kernels.weightOf(layout.estimates, rows, 0.5, cap, 12, temperature);
      const finite = [...estimates].filter(Number.isFinite);
      const exponents = finite.map((value) => (finish(value) - 12) / temperature);
      const truth = exponents.reduce((sum, exponent) => sum + Math.exp(Math.min(exponent, 0)), 0);
      assert.ok(Math.abs(found - truth) < 1e-4 * truth, `${found} for ${truth}`);
    }
  });
}

test('without relaxed SIMD there are the other kernels, or an error for who insists', async () => {
  const memory = newMemory(2);
  const read = async (/** @type {string} */ name) =>
    name === 'kernels.wasm' ? readModule(name) : Uint8Array.of(0, 1, 2);
  assert.equal((await loadKernels('auto', read, memory)).name, 'simd');
  await assert.rejects(loadKernels('relaxed', read, memory), { code: 'kernel_unavailable' });
  const broken = async () => Uint8Array.of(1);
  await assert.rejects(loadKernels('auto', broken, memory), { code: 'kernel_unavailable' });
  const unknown = /** @type {any} */ ('webgpu');
  await assert.rejects(loadKernels(unknown, read, memory), { code: 'kernel_unavailable' });
});
