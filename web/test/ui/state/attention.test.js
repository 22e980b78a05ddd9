import assert from 'node:assert/strict';
import { test } from 'node:test';
import { brightnessOfTurns, unitsOf } from '../../../src/chats/brightness/kept.js';
import { newChat, reply as answer, say } from '../../../src/chats/tree.js';
import { Attention } from '../../../src/ui/state/attention.js';
import { AttendedReply } from '../../../src/ui/state/attended_reply.js';
import { costOfAttention, nameOf, percent, whyNoAttention } from '../../../src/ui/words/attention.js';
import { FakeReplyAttention } from '../../tools/fake_page/attention.js';
import { settled } from '../scripted.js';

/** @param {string} id @param {boolean} attention */
const chatOf = (id, attention) => ({ ...newChat({ id, system: 'Be' }), attention });

test('what a reply looked at is kept with its chat as brightness', async () => {
  const attention = new Attention();
  const asked = say(answer(say(chatOf('c', true), 'One'), 'Two'), 'Three');
  /** @type {any} */
  let changed = null;
  const library = { change: async (/** @type {string} */ id, /** @type {any} */ step) => (changed = [id, step(asked)]) };
  const turns = [null, Uint16Array.of(1, 1, 2), Uint16Array.of(32768, 32768, 32768), null];
  await attention.gather(asked, { gathered: async () => turns }, /** @type {any} */ (library));
  const [id, after] = changed;
  assert.equal(id, 'c');
  assert.deepEqual([...unitsOf('One', after.nodes.m1.brightness)], [1, 1, 2]);
  assert.deepEqual([after.systemBrightness, after.nodes.m2.brightness, after.nodes.m3.brightness], [undefined, undefined, undefined]);
  assert.deepEqual(brightnessOfTurns(after).map((units) => units[0]), [32768, 1, 32768, 32768]);
});

test('a reply is there to be looked at while it is made, and then by its node', () => {
  const attention = new Attention();
  attention.begin(chatOf('c', true));
  assert.deepEqual(attention.kept.value, { chat: 'c', node: null });
  attention.end('m2');
  assert.deepEqual(attention.kept.value, { chat: 'c', node: 'm2' });
  attention.begin(chatOf('c', false));
  assert.equal(attention.kept.value, null);
  attention.end('m4');
  assert.equal(attention.kept.value, null);
});

test('a refusal is news once, and over with the next reply that brings attention', () => {
  const attention = new Attention();
  attention.begin(chatOf('c', true));
  assert.equal(attention.refuse('unsupported', 0), true);
  attention.end('m2');
  assert.deepEqual([attention.kept.value, attention.refused.value], [null, 'unsupported']);
  attention.begin(chatOf('c', true));
  assert.equal(attention.refuse('unsupported', 5), false);
  attention.end('m4');
  assert.deepEqual(attention.kept.value, { chat: 'c', node: 'm4' });
  attention.begin(chatOf('c', true));
  attention.end('m6');
  assert.equal(attention.refused.value, null);
});

/** A reply of words to look at. @param {string} text */
function reply(text) {
  const fake = new FakeReplyAttention([{ role: 'user', content: 'one two' }]);
  for (const word of text.match(/\s*\S+/g) ?? []) fake.push(word);
  const engine = {
    attended: async (/** @type {string} */ _, /** @type {number} */ from) => /** @type {any} */ (fake.attended(from)),
    attention: async (/** @type {string} */ _, /** @type {number | null} */ token) => fake.row(token),
  };
  return { fake, engine, shown: new AttendedReply(engine, 'c') };
}

test('what is new of a reply that grows comes behind what is known', async () => {
  const { fake, shown } = reply('a b');
  await shown.refresh();
  assert.deepEqual(shown.range.value, { first: 0, end: 2, dropped: false });
  assert.equal(shown.row.value?.of, null);
  fake.push(' c');
  await shown.refresh();
  assert.deepEqual([shown.spans.map(({ text }) => text).join(''), shown.range.value?.end],
    [fake.spans.map(({ text }) => text).join(''), 3]);
});

test('what comes in several answers is there before anything is shown', async () => {
  const { fake, shown } = reply('word '.repeat(2500));
  await shown.refresh();
  assert.equal(shown.spans.length, fake.spans.length);
  assert.equal(shown.range.value?.end, 2500);
});

test('tokens of the reply are found by their spans, others cannot be chosen', async () => {
  const { fake, shown } = reply('a b');
  await shown.refresh();
  assert.deepEqual([shown.spanOf(0), shown.spanOf(1), shown.spanOf(2)],
    [fake.promptTokens, fake.promptTokens + 1, null]);
  assert.deepEqual([shown.tokenOf(fake.promptTokens + 1), shown.tokenOf(0)], [1, null]);
});

test('the newest token is the last one with a text', async () => {
  const { fake, shown } = reply('a b');
  fake.spans.push({ text: '<end>', start: fake.spans.length, stop: fake.spans.length + 1, kind: 'control' });
  await shown.refresh();
  assert.deepEqual([shown.range.value?.end, shown.newest()], [3, 1]);
});

test('of several choices the latest counts, however the answers come', async () => {
  const { engine, fake } = reply('a b c');
  /** @type {(() => void)[]} */
  const answers = [];
  const slow = { ...engine, attention: (/** @type {string} */ _, /** @type {number | null} */ token) =>
    /** @type {Promise<any>} */ (new Promise((resolve) => answers.push(() => resolve(fake.row(token))))) };
  const shown = new AttendedReply(slow, 'c');
  const [first, second] = [shown.choose(0), shown.choose(2)];
  answers[1]();
  await second;
  answers[0]();
  await first;
  assert.equal(shown.row.value?.of, 2);
});

test('an engine that has nothing, or has died, is said', async () => {
  for (const attended of [async () => null, () => Promise.reject(new Error('dead'))]) {
    const shown = new AttendedReply({ attended, attention: async () => null }, 'c');
    void shown.refresh();
    await settled();
    assert.deepEqual([shown.gone.value, shown.range.value], [true, null]);
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
