import assert from 'node:assert/strict';
import { test } from 'node:test';
import { clipped, normsOf } from '../../../src/noise/mechanism/clipping.js';
import { RowMechanism } from '../../../src/noise/mechanism/mechanism.js';
import { RowStreams, histories } from '../../../src/noise/mechanism/prf.js';
import { largestDistance, tableNorms } from '../../../src/noise/mechanism/sensitivity.js';
import { KEY, MODEL, TOKENS, apart, doubles, floats, hexOf, vectors } from '../vectors.js';

const CLOSE = 1e-9;

test('norms have every bit that numpy gives them, at all widths', () => {
  for (const { width, rows, norms } of vectors.norms) {
    assert.deepEqual([...normsOf(floats(rows), width)], [...doubles(norms)], `width ${width}`);
  }
});

test('a clipped row is no longer than the norm, and a shorter one is as it was', () => {
  const rows = Float32Array.of(3, 4, 0.3, 0.4, 0, 0);
  const scaled = clipped(rows, 2, 1);
  assert.ok(Math.hypot(scaled[0], scaled[1]) <= 1 + 1e-15);
  assert.deepEqual([...scaled.subarray(2)], [...rows.subarray(2)]);
});

test('a released row has the bits that the Python client sends', () => {
  const before = histories(TOKENS);
  const names = TOKENS.map((token, position) => ({ position, token, history: before[position] }));
  for (const { width, sigma, clip, rows, released } of vectors.released) {
    const mechanism = new RowMechanism({ sigma, clip, sensitivity: 2 * clip, width });
    const streams = new RowStreams({ key: KEY, layer: 'embedding', sigma, clip, model: MODEL, codec: 'bf16' });
    const noised = mechanism.release(floats(rows), names, streams);
    assert.equal(hexOf(new Uint8Array(noised.buffer)), released, `width ${width}, sigma ${sigma}`);
  }
});

test('an epsilon gives the sigma that the Python client has, and that sigma the epsilon', () => {
  for (const { sigma, distance, found, of_100_rows: of100, ...wanted } of vectors.calibrated) {
    const mechanism = RowMechanism.forEpsilon(wanted);
    assert.ok(apart(mechanism.sigma, sigma) < CLOSE);
    assert.ok(apart(mechanism.distance, distance) < CLOSE);
    assert.ok(apart(mechanism.epsilon(wanted.delta), found) < CLOSE);
    assert.ok(of100 === null ? mechanism.epsilon(wanted.delta, 100) === Infinity
      : apart(mechanism.epsilon(wanted.delta, 100), of100) < CLOSE);
  }
});

test('the norm of 99% of the rows and the largest distance are those of the Python client', async () => {
  for (const { width, rows, clip, distance, few, of_few: ended } of vectors.tables) {
    const values = floats(rows);
    const read = async (/** @type {number[]} */ ids) =>
      Float32Array.from(ids.flatMap((id) => [...values.subarray(id * width, (id + 1) * width)]));
    const norms = (await tableNorms(read, 150, width)).sort();
    assert.equal(norms[Math.ceil(149 * 0.99)], clip);
    const whole = await largestDistance(read, 150, width, clip);
    assert.ok(whole.exact && apart(whole.distance, distance) < CLOSE);
    const part = await largestDistance(read, 150, width, clip, { mostProducts: few });
    assert.equal(part.exact, ended.exact);
    assert.ok(apart(part.distance, ended.distance) < CLOSE);
  }
});

test('a search tells how far it is, up to its end', async () => {
  const told = /** @type {number[]} */ ([]);
  const read = async (/** @type {number[]} */ ids) => Float32Array.from(ids.flatMap((id) => [id % 7, (id * 3) % 5]));
  await largestDistance(read, 900, 2, 3, { onProgress: (done) => void told.push(done) });
  assert.ok(told.length > 10 && told.every((done, i) => i === 0 || done >= told[i - 1]));
  assert.equal(told.at(-1), 1);
});

test('numbers of which no noise can be made are refused', () => {
  const fine = { sigma: 1, clip: 2, sensitivity: 4, width: 8 };
  for (const wrong of [{ sigma: 0 }, { clip: Infinity }, { sensitivity: NaN }, { sigma: 1e-12 }]) {
    assert.throws(() => new RowMechanism({ ...fine, ...wrong }), { code: 'invalid_privacy_parameter' });
  }
  const tooLittle = () => RowMechanism.forEpsilon({ ...fine, epsilon: 1e-9, delta: 1e-12 });
  assert.throws(tooLittle, { code: 'invalid_privacy_parameter' });
});
