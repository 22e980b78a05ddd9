// tests/vectors/sampling.json, which Python's sampler meets too.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { keptWeights, total } from '../../src/generation/filters.js';
import { paramsFrom } from '../../src/generation/params.js';
import { rank } from '../../src/generation/ranking.js';
import { Sampler } from '../../src/generation/sampler.js';
import { uniform } from '../../src/generation/uniform.js';
import { EchoHead } from './plain_head.js';

const file = new URL('../../../tests/vectors/sampling.json', import.meta.url);
const vectors = JSON.parse(readFileSync(file, 'utf8'));

test('the file has the parts that are tested here', () => {
  assert.equal(vectors.format, 1);
  assert.deepEqual(Object.keys(vectors), ['format', 'uniform', 'filter', 'pick']);
});

for (const { seed, draw_index: index, u } of vectors.uniform) {
  test(`draw ${index} of seed ${seed} is met exactly`, () => {
    assert.equal(uniform(BigInt(seed), BigInt(index)), u);
  });
}

for (const { name, params, logits, ids, probabilities } of vectors.filter) {
  test(`filter: ${name}`, () => {
    const ranked = rank(Int32Array.from(logits.keys()), Float64Array.from(logits));
    const weights = keptWeights(ranked.logits, paramsFrom(params));
    assert.deepEqual([...ranked.ids.subarray(0, weights.length)], ids);
    weights.forEach((weight, i) => {
      const difference = Math.abs(weight / total(weights) - probabilities[i]);
      assert.ok(difference <= 1e-11 * probabilities[i], `${name}, candidate ${i}: ${difference}`);
    });
  });
}

for (const { name, params, seed, prompt, generated, logits, token_ids: expected } of vectors.pick) {
  test(`choices: ${name}`, async () => {
    const sampler = new Sampler(new EchoHead(logits.length), paramsFrom({ ...params, seed }));
    const chosen = [];
    for (let draw = 0; draw < expected.length; draw++) {
      chosen.push((await sampler.choose(Float32Array.from(logits), prompt, generated, draw)).token);
    }
    assert.deepEqual(chosen, expected);
  });
}
