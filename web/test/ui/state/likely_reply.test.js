import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LikelyReply, MOST_SHOWN } from '../../../src/ui/state/likely_reply.js';
import { chance, surpriseOf, toldOf } from '../../../src/ui/words/likely.js';

/** An engine with a reply of so many tokens, each less likely than the one before. @param {number} count */
function engineOf(count) {
  const token = (/** @type {number} */ at) => ({ id: at, text: `t${at}`, control: at === count - 1, logprob: at === 2 ? null : -at });
  return {
    asked: 0,
    async tokens(/** @type {string} */ answer, /** @type {number} */ from) {
      this.asked += 1;
      if (answer !== 'r') return null;
      return { tokens: Array.from({ length: Math.max(0, Math.min(16, count - from)) }, (_, i) => token(from + i)), count };
    },
    async alternatives(/** @type {string} */ _answer, /** @type {number} */ at) {
      return /** @type {[number, string, number][]} */ ([[at, `t${at}`, -at]]);
    },
  };
}

const always = () => true;

test('tokens come a few at a time, as long as they are wanted', async () => {
  const engine = engineOf(40);
  const reply = new LikelyReply(engine, 'r');
  await reply.load(() => engine.asked < 1);
  assert.deepEqual([reply.tokens.value.length, reply.count.value, reply.whole], [16, 40, false]);
  await Promise.all([reply.load(always), reply.load(always)]);
  assert.deepEqual([reply.tokens.value.length, reply.whole, engine.asked], [40, true, 3]);
  assert.equal(reply.tokenAt(17)?.text, 't17');
});

test('of a long reply the last tokens are shown, by their own numbers', async () => {
  const reply = new LikelyReply(engineOf(MOST_SHOWN + 100), 'r');
  await reply.load(always);
  assert.deepEqual([reply.first, reply.tokens.value.length, reply.tokenAt(100)?.text, reply.tokenAt(99)], [100, MOST_SHOWN, 't100', undefined]);
});

test('the most surprising are those that are known and no control tokens', async () => {
  const reply = new LikelyReply(engineOf(6), 'r');
  await reply.load(always);
  assert.deepEqual(reply.surprises(9), [4, 3, 1, 0]);
  assert.deepEqual(reply.surprises(2), [4, 3]);
});

test('a reply that is not kept, or that tells nothing, is gone', async () => {
  for (const engine of [{ ...engineOf(3), tokens: async () => ({ tokens: [], count: 3 }) },
    { ...engineOf(3), tokens: async () => Promise.reject(new Error('dead')) }]) {
    const reply = new LikelyReply(engine, 'r');
    await reply.load(always);
    assert.equal(reply.gone.value, true);
  }
  const other = new LikelyReply(engineOf(3), 'x');
  await other.load(always);
  assert.equal(other.gone.value, true);
});

test('of two choices the later one counts', async () => {
  const reply = new LikelyReply(engineOf(5), 'r');
  await Promise.all([reply.choose(1), reply.choose(3)]);
  assert.deepEqual(reply.alternatives.value, { of: 3, list: [[3, 't3', -3]] });
});

test('probabilities in words', () => {
  const of = (/** @type {number} */ p) => Math.log(p);
  assert.deepEqual([0.6, 0.5, 0.49, 0.19, 0.04, 0.009].map((p) => surpriseOf(of(p))), [0, 0, 1, 2, 3, 4]);
  assert.equal(surpriseOf(null), 0);
  assert.deepEqual([1, 0.123, 0.0012, 0.00001].map((p) => chance(of(p))), ['100.0%', '12.3%', '0.12%', '<0.01%']);
  const token = { id: 1, text: ' Paris', control: false, logprob: of(0.25) };
  assert.equal(toldOf(token, [[1, ' Paris', of(0.25)], [2, '\n', of(0.2)]]), '“Paris” 25.0%. Likeliest: “Paris” 25.0%, “↵” 20.0%');
  assert.equal(toldOf({ ...token, logprob: null }, null), '“Paris”: not kept.');
});
