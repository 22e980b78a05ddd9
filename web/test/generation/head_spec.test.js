import assert from 'node:assert/strict';
import { test } from 'node:test';
import { HeadSpec } from '../../src/generation/head_spec.js';
import { randomNumbers } from './random.js';

test('bias, then scale, then cap', () => {
  const spec = new HeadSpec({ bias: Float32Array.of(1, 2, 3), scale: 0.5, softcap: 2 });
  const logits = spec.finish(Float32Array.of(3, 1000), Int32Array.of(2, 0));
  assert.ok(Math.abs(logits[0] - 2 * Math.tanh(1.5)) < 1e-6);
  assert.equal(logits[1], 2);
});

test('dividing and multiplying by the inverse differ in float32, and each is what was asked for', () => {
  const products = Float32Array.from({ length: 100 }, (_, i) => i / 7);
  const divided = new HeadSpec({ scale: 10, divide: true }).finish(products);
  const multiplied = new HeadSpec({ scale: 0.1 }).finish(products);
  assert.deepEqual(divided, products.map((product) => product / 10));
  assert.deepEqual(multiplied, products.map((product) => product * Math.fround(0.1)));
  assert.notDeepEqual(divided, multiplied);
});

test('without bias, scale and cap the products are the logits', () => {
  const products = Float32Array.of(1, -2);
  assert.equal(new HeadSpec().finish(products), products);
});

test('no rival below the lowest one reaches the same logit', () => {
  const random = randomNumbers(3);
  for (const options of [{}, { softcap: 30 }, { scale: 0.0625 }, { softcap: 50, scale: 6, divide: true }]) {
    const spec = new HeadSpec(options);
    for (let round = 0; round < 500; round++) {
      const biased = Math.fround((random() - 0.5) * 2 ** Math.floor(12 * random()));
      const lowest = spec.lowestRival(biased);
      assert.ok(lowest < biased);
      if (lowest === -Infinity) continue;
      const below = Math.fround(lowest - Math.abs(lowest) * 2 ** -22 - 2 ** -100);
      const [own, rival] = spec.finish(Float32Array.of(biased, below));
      assert.ok(rival < own, `${biased} ${below}`);
    }
  }
});

test('a saturated cap makes everything a rival', () => {
  assert.equal(new HeadSpec({ softcap: 1 }).lowestRival(-1e6), -Infinity);
  assert.equal(new HeadSpec().lowestRival(-Infinity), -Infinity);
});

test('factors out of range and a bias that is not finite or of another length are refused', () => {
  for (const options of [{ scale: 0 }, { scale: -1 }, { softcap: 0 }, { softcap: NaN }, { scale: 2 ** 21 }]) {
    assert.throws(() => new HeadSpec(options), { code: 'invalid_head_spec' });
  }
  assert.throws(() => new HeadSpec({ bias: Float32Array.of(NaN) }), { code: 'invalid_head_spec' });
  const spec = new HeadSpec({ bias: Float32Array.of(1, 2) });
  spec.checkRows(2);
  assert.throws(() => spec.checkRows(3), { code: 'invalid_head_spec' });
});
