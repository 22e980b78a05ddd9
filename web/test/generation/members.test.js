import assert from 'node:assert/strict';
import { test } from 'node:test';
import { firstMembers } from '../../src/generation/members.js';
import { paramsFrom } from '../../src/generation/params.js';
import { AffectedTokens } from '../../src/generation/processors.js';
import { only, rank } from '../../src/generation/ranking.js';
import { TokenSet } from '../../src/generation/token_set.js';
import { EchoHead } from './plain_head.js';
import { randomNumbers } from './random.js';

const ROWS = 900;
const FEW = 100;

/** @param {number} seed */
function drawn(seed) {
  const random = randomNumbers(seed);
  const logits = Float32Array.from({ length: ROWS }, () => Math.round(40 * random()) / 8);
  const params = paramsFrom({ repetition_penalty: 1.5, presence_penalty: -1, logit_bias: { 7: 9, 8: -9 } });
  const affected = new AffectedTokens(params, ROWS);
  affected.follow([1, 2, 3, 4], [4, 5, 6]);
  return { random, logits, affected };
}

/** @param {number} share @param {() => number} random */
function without(share, random) {
  return TokenSet.without([...Array(ROWS).keys()].filter(() => random() < share), ROWS, FEW);
}

for (const share of [0.5, 0.8, 0.97]) {
  test(`with ${100 * share} percent left out, the first members are those of the definition`, async () => {
    for (let seed = 0; seed < 25; seed++) {
      const { random, logits, affected } = drawn(seed);
      const among = without(share, random);
      const changed = Float64Array.from(logits, (logit, id) => affected.adjustToken(id, logit));
      const all = only(rank(Int32Array.from(logits.keys()), changed), among.mask);
      for (const k of [1, 30, 400, ROWS]) {
        const found = await firstMembers(new EchoHead(ROWS), logits, affected, among, k);
        assert.deepEqual(found.ids, all.ids.slice(0, k));
        assert.deepEqual(found.logits, all.logits.slice(0, k));
      }
    }
  });
}

test('few members are named, and all logits wanted only where the first do not hold enough', async () => {
  const { random, logits, affected } = drawn(1);
  /** @type {[number, number, {top: number, logits: number}][]} */
  const ways = [
    [0.97, 5, { top: 1, logits: 0 }],
    [0.5, 5, { top: 1, logits: 0 }],
    [0.5, 300, { top: 1, logits: 1 }],
    [0.5, ROWS, { top: 0, logits: 1 }],
  ];
  for (const [share, k, calls] of ways) {
    const head = new EchoHead(ROWS);
    await firstMembers(head, logits, affected, without(share, random), k);
    assert.deepEqual(head.calls, { ...calls, topAndRest: 0 });
  }
});
