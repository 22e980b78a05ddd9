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
  const asked = /** @type {boolean[]} */ ([]);
  return {
    asked,
    /** @type {string | null} */
    failure: null,
    reachable: true,
    maxContext: async () => 9,
    async extend(/** @type {number[]} */ tokens, /** @type {any} */ { attention = false }) {
      asked.push(attention);
      if (attention && this.failure) throw new AppError(this.failure, 'no');
      const row = new Float32Array(tokens.length).fill(1 / tokens.length);
      return { hidden: new Float32Array(0), attention: attention ? Float32Array.of(...row, ...row) : null };
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
  assert.deepEqual(reply.row(1), new Float32Array(5).fill(0.2));
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
    assert.deepEqual(inner.asked, [true, true, false, false]);
    assert.deepEqual(refused, [code]);
    reply.push(3);
    assert.deepEqual([reply.attended(0).tokens, reply.attended(0).end], [2, 1]);
  });
}

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
