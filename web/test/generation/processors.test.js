import assert from 'node:assert/strict';
import { test } from 'node:test';
import { paramsFrom } from '../../src/generation/params.js';
import { AffectedTokens } from '../../src/generation/processors.js';
import { randomNumbers } from './random.js';

/** @param {AffectedTokens} affected @param {(id: number) => number} logit */
function changes(affected, logit) {
  const changed = affected.adjusted(Float32Array.from(affected.ids, logit));
  return new Map([...affected.ids].map((id, i) => [id, changed[i]]));
}

test('bias, repetition, frequency and presence apply in this order', () => {
  const penalties = { repetition_penalty: 2, presence_penalty: 0.5, frequency_penalty: 0.25 };
  const affected = new AffectedTokens(paramsFrom({ ...penalties, logit_bias: { 1: 3, 9: -1 } }), 10);
  affected.follow([1, 2, 2], [2, 2, 3]);
  const found = changes(affected, (id) => (id === 3 ? -4 : 5));
  assert.deepEqual(found, new Map([[1, 4], [9, 4], [2, 2.5 - 0.5 - 0.5], [3, -8 - 0.25 - 0.5]]));
});

test('without a repetition penalty the prompt is not looked at', () => {
  const affected = new AffectedTokens(paramsFrom({ presence_penalty: 1 }), 5);
  affected.follow([77, 78], [2]);
  assert.deepEqual([...affected.ids], [2]);
});

test('forbidden tokens stay forbidden whatever else is said of them', () => {
  const params = paramsFrom({ logit_bias: { 8: 100 }, repetition_penalty: 0.1 });
  const affected = new AffectedTokens(params, 10, Int32Array.of(3, 8));
  affected.follow([8], [8, 3]);
  assert.deepEqual(changes(affected, () => 1), new Map([[3, -Infinity], [8, -Infinity]]));
});

test('a history that goes on, goes back or is another one counts as if it were the first', () => {
  const params = paramsFrom({ repetition_penalty: 1.3, presence_penalty: 0.4, frequency_penalty: 0.2 });
  const random = randomNumbers(5);
  const kept = new AffectedTokens(params, 200);
  let [prompt, reply] = [[1, 2], [/** @type {number} */ (3)]];
  for (let round = 0; round < 400; round++) {
    const what = random();
    const token = Math.floor(random() * 200);
    if (what < 0.7) reply.push(token);
    else if (what < 0.8) reply.pop();
    else if (what < 0.85) reply[reply.length >> 1] = token;
    else if (what < 0.9) prompt = [...prompt, token];
    else if (what < 0.95) prompt[0] = token;
    else reply = [];
    const fresh = new AffectedTokens(params, 200);
    kept.follow(prompt, reply);
    fresh.follow(prompt, reply);
    assert.deepEqual(changes(kept, (id) => id - 100), changes(fresh, (id) => id - 100));
  }
});

test('a token that the head does not have is refused, and the next history is not touched by it', () => {
  const affected = new AffectedTokens(paramsFrom({ repetition_penalty: 2 }), 10);
  affected.follow([1], [2]);
  for (const [prompt, reply] of [[[1, 10], []], [[1], [2, -1]]]) {
    assert.throws(() => affected.follow(prompt, reply), { code: 'token_id_out_of_range' });
  }
  affected.follow([1], [2, 3]);
  assert.deepEqual([...affected.ids], [1, 2, 3]);
});

test('the ids are the same array as long as no other token is affected', () => {
  const affected = new AffectedTokens(paramsFrom({ frequency_penalty: 1 }), 10);
  affected.follow([], [4]);
  const before = affected.ids;
  affected.follow([], [4, 4]);
  assert.equal(affected.ids, before);
  affected.follow([], [4, 4, 5]);
  assert.notEqual(affected.ids, before);
});
