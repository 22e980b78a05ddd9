import assert from 'node:assert/strict';
import { test } from 'node:test';
import { only, rank, rankedThrough } from '../../src/generation/ranking.js';
import { randomNumbers } from './random.js';

/** @param {Int32Array} ids @param {Float64Array} logits */
function sorted(ids, logits) {
  const places = [...ids.keys()].sort((a, b) => logits[b] - logits[a] || ids[a] - ids[b]);
  return places.map((place) => [ids[place], logits[place]]);
}

/** @param {{ids: Int32Array, logits: Float64Array}} ranked */
function pairs({ ids, logits }) {
  return [...ids].map((id, i) => [id, logits[i]]);
}

test('the first k are those of a full sort, equal logits by rising id', () => {
  const random = randomNumbers(1);
  for (let round = 0; round < 300; round++) {
    const count = Math.floor(random() * 60);
    const ids = Int32Array.from({ length: count }, (_, i) => (i * 37) % 61);
    const logits = Float64Array.from(ids, () => Math.round(random() * 8) - 4);
    for (const k of [0, 1, 7, count, count + 5]) {
      assert.deepEqual(pairs(rank(ids, logits, k)), sorted(ids, logits).slice(0, k));
    }
  }
});

test('both zeros rank alike, and what is forbidden comes last', () => {
  const ranked = rank(Int32Array.of(9, 4, 6, 5), Float64Array.of(0, -Infinity, -0, 0));
  assert.deepEqual([...ranked.ids], [5, 6, 9, 4]);
});

test('up to the last of the top the ranking is that of the whole vocabulary', () => {
  const random = randomNumbers(2);
  for (let round = 0; round < 200; round++) {
    const all = Int32Array.from({ length: 40 }, (_, id) => id);
    const logits = Float32Array.from(all, () => Math.round(random() * 6));
    const also = all.filter(() => random() < 0.3);
    const changed = Float64Array.from(also, () => Math.round(random() * 6) + (random() < 0.2 ? 9 : 0));
    const rest = all.filter((id) => !also.includes(id));
    const first = rank(rest, Float64Array.from(rest, (id) => logits[id]), 8);
    const top = { ids: first.ids, logits: Float32Array.from(first.logits), alsoLogits: new Float32Array(0) };

    const whole = Float64Array.from(logits);
    also.forEach((id, i) => (whole[id] = changed[i]));
    const { ranked, behind } = rankedThrough(top, also, changed);
    assert.deepEqual(pairs(ranked), sorted(all, whole).slice(0, ranked.ids.length));
    assert.equal(ranked.ids.at(-1), top.ids.at(-1));
    assert.deepEqual(new Set([...ranked.ids, ...behind.ids]), new Set([...top.ids, ...also]));
  }
});

test('a mask leaves the order as it is', () => {
  const ranked = { ids: Int32Array.of(3, 0, 2), logits: Float64Array.of(5, 4, 3) };
  assert.deepEqual(pairs(only(ranked, Uint8Array.of(1, 1, 0, 1))), [[3, 5], [0, 4]]);
});
