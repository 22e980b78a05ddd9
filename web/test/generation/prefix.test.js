import assert from 'node:assert/strict';
import { test } from 'node:test';
import { paramsFrom } from '../../src/generation/params.js';
import { drawFromPrefix } from '../../src/generation/prefix.js';

const NONE = /** @type {const} */ ([new Int32Array(0), new Float64Array(0)]);
const top = {
  ids: Int32Array.of(4, 1, 7),
  logits: Float32Array.of(0, 0, 0).map((_, i) => Math.log([4, 2, 1][i])),
  alsoLogits: new Float32Array(0),
};
const params = paramsFrom({ temperature: 1 });

// Weights relative to the first are 1, 1/2 and 1/4; the rest weighs 1/4 in truth.
test('a draw within the first candidates is decided by any bounds that agree', () => {
  for (const rest of [{ low: 0.25, high: 0.25 }, { low: 0.1, high: 0.4 }]) {
    assert.equal(drawFromPrefix(top, ...NONE, rest, params, 0.1)?.token, 4);
    assert.equal(drawFromPrefix(top, ...NONE, rest, params, 0.6)?.token, 1);
  }
});

test('bounds that disagree, and draws beyond the candidates, are left to all logits', () => {
  assert.equal(drawFromPrefix(top, ...NONE, { low: 0.1, high: 0.4 }, params, 0.52), null);
  assert.equal(drawFromPrefix(top, ...NONE, { low: 0.25, high: 0.25 }, params, 0.95), null);
  assert.equal(drawFromPrefix(top, ...NONE, { low: 0, high: Infinity }, params, 0.1), null);
});

test('an affected token takes its new place, also one behind all candidates', () => {
  const rest = { low: 0.25, high: 0.25 };
  const ahead = drawFromPrefix(top, Int32Array.of(9), Float64Array.of(Math.log(8)), rest, params, 0.1);
  assert.equal(ahead?.token, 9);
  const behind = drawFromPrefix(top, Int32Array.of(9), Float64Array.of(Math.log(0.5)), rest, params, 0.1);
  assert.ok(behind && Math.abs(behind.probability - 1 / 2.125) < 1e-6);
});

test('top-p and min-p that keep a part of the candidates need no rest', () => {
  const unknown = { low: 0, high: 1e-3 };
  const few = paramsFrom({ temperature: 1, top_p: 0.5 });
  assert.deepEqual(drawFromPrefix(top, ...NONE, unknown, few, 0.99), { token: 4, probability: 1 });
  const most = paramsFrom({ temperature: 1, min_p: 0.4 });
  assert.equal(drawFromPrefix(top, ...NONE, { low: 0, high: 1e9 }, most, 0.99)?.token, 1);
  const all = paramsFrom({ temperature: 1, min_p: 0.1 });
  assert.equal(drawFromPrefix(top, ...NONE, unknown, all, 0.01), null);
});

test('only what a mask allows takes part, and the rest may be none of it', () => {
  const mask = Uint8Array.of(0, 1, 0, 0, 0, 0, 0, 1);
  const rest = { low: 0.25, high: 0.25 };
  assert.equal(drawFromPrefix(top, ...NONE, rest, params, 0.2, mask)?.token, 1);
  assert.equal(drawFromPrefix(top, ...NONE, rest, params, 0.6, mask), null);
  assert.equal(drawFromPrefix(top, ...NONE, rest, params, 0.1, new Uint8Array(8)), null);
});
