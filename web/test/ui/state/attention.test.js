import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Attention } from '../../../src/ui/state/attention.js';
import { Looking } from '../../../src/ui/state/attended_reply.js';
import { costOfAttention, nameOf, percent, whyNoAttention } from '../../../src/ui/words/attention.js';
import { FakeLooked } from '../../tools/fake_page/attention.js';
import { settled } from '../scripted.js';

test('a reply is there to be looked at while it is made, and then by its node', () => {
  const attention = new Attention();
  attention.begin('c', true);
  assert.deepEqual(attention.kept.value, { chat: 'c', node: null });
  attention.end('m2');
  assert.deepEqual(attention.kept.value, { chat: 'c', node: 'm2' });
  attention.begin('c', false);
  assert.equal(attention.kept.value, null);
  attention.end('m4');
  assert.equal(attention.kept.value, null);
});

test('a refusal is news once, and over with the next reply that brings attention', () => {
  const attention = new Attention();
  attention.begin('c', true);
  assert.equal(attention.refuse('unsupported', 0), true);
  attention.end('m2');
  assert.deepEqual([attention.kept.value, attention.refused.value], [null, 'unsupported']);
  attention.begin('c', true);
  assert.equal(attention.refuse('unsupported', 5), false);
  attention.end('m4');
  assert.deepEqual(attention.kept.value, { chat: 'c', node: 'm4' });
  attention.begin('c', true);
  attention.end('m6');
  assert.equal(attention.refused.value, null);
});

/** A reply of words to look at. @param {string} text */
function reply(text) {
  const looked = new FakeLooked([{ role: 'user', content: 'one two' }]);
  for (const word of text.match(/\s*\S+/g) ?? []) looked.push(word);
  const engine = {
    attended: async (/** @type {string} */ _, /** @type {number} */ from) => /** @type {any} */ (looked.told(from)),
    attention: async (/** @type {string} */ _, /** @type {number | null} */ token) => looked.row(token),
  };
  return { looked, engine, looking: new Looking(engine, 'c') };
}

test('what is new of a reply that grows comes behind what is known', async () => {
  const { looked, looking } = reply('a b');
  await looking.refresh();
  assert.deepEqual(looking.range.value, { first: 0, end: 2, dropped: false });
  assert.equal(looking.row.value?.of, null);
  looked.push(' c');
  await looking.refresh();
  assert.deepEqual([looking.spans.map(({ text }) => text).join(''), looking.range.value?.end],
    [looked.spans.map(({ text }) => text).join(''), 3]);
});

test('what comes in several answers is there before anything is shown', async () => {
  const { looked, looking } = reply('word '.repeat(2500));
  await looking.refresh();
  assert.equal(looking.spans.length, looked.spans.length);
  assert.equal(looking.range.value?.end, 2500);
});

test('tokens of the reply are found by their spans, others cannot be chosen', async () => {
  const { looked, looking } = reply('a b');
  await looking.refresh();
  assert.deepEqual([looking.spanOf(0), looking.spanOf(1), looking.spanOf(2)],
    [looked.promptTokens, looked.promptTokens + 1, null]);
  assert.deepEqual([looking.tokenOf(looked.promptTokens + 1), looking.tokenOf(0)], [1, null]);
});

test('the newest token is the last one with a text', async () => {
  const { looked, looking } = reply('a b');
  looked.spans.push({ text: '<end>', start: looked.spans.length, stop: looked.spans.length + 1, kind: 'control' });
  await looking.refresh();
  assert.deepEqual([looking.range.value?.end, looking.newest()], [3, 1]);
});

test('of several choices the latest counts, however the answers come', async () => {
  const { engine, looked } = reply('a b c');
  /** @type {(() => void)[]} */
  const answers = [];
  const slow = { ...engine, attention: (/** @type {string} */ _, /** @type {number | null} */ token) =>
    /** @type {Promise<any>} */ (new Promise((resolve) => answers.push(() => resolve(looked.row(token))))) };
  const looking = new Looking(slow, 'c');
  const [first, second] = [looking.choose(0), looking.choose(2)];
  answers[1]();
  await second;
  answers[0]();
  await first;
  assert.equal(looking.row.value?.of, 2);
});

test('an engine that has nothing, or has died, is said', async () => {
  for (const attended of [async () => null, () => Promise.reject(new Error('dead'))]) {
    const looking = new Looking({ attended, attention: async () => null }, 'c');
    void looking.refresh();
    await settled();
    assert.deepEqual([looking.gone.value, looking.range.value], [true, null]);
  }
});

test('names of tokens are short, on one line, and never empty', () => {
  assert.equal(nameOf(' the'), '“the”');
  assert.equal(nameOf('\n\t '), '“↵⇥␣”');
  assert.equal(nameOf('a\nb'), '“a b”');
  assert.equal(nameOf('☺'.repeat(30)), `“${'☺'.repeat(20)}”`);
  assert.equal(percent(0.1234), '12.3%');
});

test('the cost is told for the model at hand', () => {
  assert.match(costOfAttention(24), /96\.0 kB per token after 1,000 tokens/);
  assert.doesNotMatch(costOfAttention(undefined), /kB/);
});

test('every refusal has words that say what is going on', () => {
  for (const code of ['unsupported', 'attention_too_large', 'internal_error']) {
    assert.match(whyNoAttention(code), /^[A-Z].+\.$/);
  }
});
