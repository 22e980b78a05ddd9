import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AppError } from '../../../src/common/errors.js';
import { ReplyAttention } from '../../../src/engine/attention/reply.js';

/** Every id is a letter of the alphabet; 26 is a control token. */
const tokenizer = {
  stream: () => ({ push: (/** @type {number} */ id) => String.fromCharCode(97 + id).replace('{', ''), flush: () => '' }),
  control: (/** @type {number} */ id) => (id === 26 ? '<end>' : null),
};
const OPTIONS = { signal: new AbortController().signal };

/** A sequence that tells, for two layers, a row of its own for each length. */
function sequence() {
  const asked = /** @type {any[]} */ ([]);
  return {
    asked,
    /** @type {string | null} */
    failure: null,
    /** What it tells in place of true rows. @type {any} */
    told: null,
    reachable: true,
    maxContext: async () => 9,
    async extend(/** @type {number[]} */ tokens, /** @type {any} */ { attention = false }) {
      asked.push(attention);
      if (attention && this.failure) throw new AppError(this.failure, 'no');
      const row = new Float32Array(tokens.length).fill(1 / 8);
      const told = { layers: 2, heads: 1, cached: tokens.length, width: tokens.length, positions: null };
      const rows = attention ? (this.told ?? { ...told, weights: Float32Array.of(...row, ...row) }) : null;
      return { hidden: new Float32Array(0), attention: rows };
    },
  };
}

/** @param {string[]} [refused] */
const attentionOf = (refused = []) =>
  new ReplyAttention(tokenizer, [{ role: 'user', content: 'bc' }], [26, 1, 2, 26], (code) => void refused.push(code));

test('a reply is told as it grows, with a row for each token', async () => {
  const reply = attentionOf();
  const inner = sequence();
  const attending = reply.attending(/** @type {any} */ (inner));
  await attending.extend([26, 1, 2, 26], OPTIONS);
  // Its row is there before the token is chosen.
  assert.deepEqual([reply.attended(0).tokens, reply.attended(0).end], [0, 0]);
  reply.push(3);
  await attending.extend([26, 1, 2, 26, 3], OPTIONS);
  reply.push(26);
  reply.push(-1);
  reply.end();
  const told = reply.attended(1);
  assert.deepEqual([told.promptTokens, told.tokens, told.first, told.end], [4, 2, 0, 2]);
  assert.deepEqual(told.spans.map(({ text, kind }) => [text, kind]), [
    ['b', 'user'], ['c', 'user'], ['<end>', 'control'], ['d', 'assistant'], ['<end>', 'control'],
  ]);
  assert.deepEqual(reply.row(1), new Float32Array(5).fill(1 / 8));
  assert.deepEqual([reply.row(2), reply.row(null)?.length], [null, 5]);
  assert.equal(await attending.maxContext(OPTIONS), 9);
});

test('whether an answer can come is what the sequence says by then', () => {
  const inner = sequence();
  const attending = attentionOf().attending(/** @type {any} */ (inner));
  assert.equal(attending.reachable, true);
  inner.reachable = false;
  assert.equal(attending.reachable, false);
});

for (const code of ['unsupported', 'attention_too_large']) {
  test(`a reply goes on without attention after ${code}, which is told once`, async () => {
    const refused = /** @type {string[]} */ ([]);
    const reply = attentionOf(refused);
    const inner = sequence();
    const attending = reply.attending(/** @type {any} */ (inner));
    await attending.extend([26, 1, 2, 26], OPTIONS);
    inner.failure = code;
    reply.push(3);
    const extended = await attending.extend([26, 1, 2, 26, 3], OPTIONS);
    await attending.extend([26, 1, 2, 26, 3, 3], OPTIONS);
    assert.ok(extended.hidden);
    assert.deepEqual(inner.asked, ['row', 'row', false, false]);
    assert.deepEqual(refused, [code]);
    reply.push(3);
    assert.deepEqual([reply.attended(0).tokens, reply.attended(0).end], [2, 1]);
  });
}

test('a reply goes on without attention after rows that cannot be true', async () => {
  const refused = /** @type {string[]} */ ([]);
  const reply = attentionOf(refused);
  const inner = sequence();
  const attending = reply.attending(/** @type {any} */ (inner));
  await attending.extend([26, 1, 2, 26], OPTIONS);
  inner.told = new AppError('attention_invalid', 'no');
  for (let i = 0; i < 3; i++) {
    reply.push(3);
    assert.ok((await attending.extend([26, 1, 2, 26, 3], OPTIONS)).hidden);
  }
  assert.deepEqual([refused, inner.asked], [['attention_invalid'], ['row', 'row', false, false]]);
  assert.deepEqual([4, 5, 3].map((position) => reply.rowAt({ position, reply: 4 })?.length), [4, undefined, undefined]);
});

test('a row is not told for a chat in which the reply begins elsewhere', async () => {
  const reply = attentionOf();
  await reply.attending(/** @type {any} */ (sequence())).extend([26, 1, 2, 26], OPTIONS);
  reply.push(3);
  assert.deepEqual([reply.rowAt({ position: 4, reply: 4 })?.length, reply.rowAt({ position: 4, reply: 3 })], [4, null]);
  assert.deepEqual([reply.farBack({ before: 2, reply: 4 })?.first, reply.farBack({ before: 2, reply: 5 })], [4, null]);
});

test('each span of a message tells where in it the text stands', () => {
  const reply = attentionOf();
  for (const id of [3, 4, 26]) reply.push(id);
  const places = reply.attended(0).spans.map(({ text, message, at }) => [text, message, at]);
  assert.deepEqual(places.filter(([, message]) => message !== undefined), [['b', 0, 0], ['c', 0, 1], ['d', 1, 0], ['e', 1, 1]]);
});

test('other failures are the reply\'s', async () => {
  const inner = sequence();
  inner.failure = 'connection_lost';
  const attending = attentionOf().attending(/** @type {any} */ (inner));
  await assert.rejects(attending.extend([1], OPTIONS), { code: 'connection_lost' });
});

test('a long prompt is told in several answers', async () => {
  const prompt = Array(2500).fill(1);
  const reply = new ReplyAttention(tokenizer, [{ role: 'user', content: 'b'.repeat(2500) }], prompt, () => {});
  const told = [0, 1000, 2000].map((from) => reply.attended(from));
  assert.deepEqual(told.map(({ spans, more }) => [spans.length, more]), [[1000, true], [1000, true], [500, false]]);
  assert.equal(told[2].spans[0].start, 2000);
});
