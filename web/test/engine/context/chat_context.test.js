import assert from 'node:assert/strict';
import { test } from 'node:test';
import { travelling } from '../../../src/chats/context/travelling.js';
import { ChatContext } from '../../../src/engine/context/chat_context.js';
import { TokenCounter } from '../../../src/engine/context/counter.js';
import { requireRoom } from '../../../src/engine/context/room.js';

const encode = (/** @type {string} */ text) => [...text].map((letter) => letter.charCodeAt(0));

/** A token is a character, and two stand around each message. @param {{limit?: number, held?: number}} [about] */
function contextOf({ limit = 300, held = 0 } = {}) {
  const asked = { encoded: 0, rendered: 0 };
  const counter = new TokenCounter({ encode: (text) => encode(text).map((id) => ((asked.encoded += 1), id)) });
  const idsOf = async (/** @type {any[]} */ messages) => {
    asked.rendered += 1;
    return messages.flatMap(({ content }) => [1, ...encode(content), 2]);
  };
  const shared = (/** @type {number[]} */ ids) => Math.min(held, ids.length);
  return { asked, counter, context: new ChatContext({ counter, idsOf, shared, limit }) };
}

const turns = (/** @type {number} */ count) =>
  Array.from({ length: 2 * count }, (_, at) => /** @type {const} */ ({
    role: at % 2 ? 'assistant' : 'user', content: `Said ${at}. More of it. End.`,
  }));
const asking = (/** @type {number} */ count) => [...turns(count), /** @type {const} */ ({ role: 'user', content: 'Now?' })];
const left = (/** @type {any[]} */ chat, /** @type {any} */ proposal) => {
  const dropped = new Map(proposal.dropped);
  return chat.map((message, index) => (dropped.has(index) ? { ...message, dropped: dropped.get(index) } : message));
};

test('a chat is counted by message, as it travels, with what the next message sends of it again', async () => {
  const { context } = contextOf({ held: 20 });
  const chat = /** @type {any[]} */ (turns(2));
  chat[2] = { ...chat[2], dropped: [[0, 8]] };
  chat[3] = { ...chat[3], dropped: [[0, 25]] };
  const fill = await context.fill(chat);
  assert.deepEqual(fill, { messages: [24, 24, 16, 1], total: 73, again: 53, limit: 300, exact: true });
  assert.deepEqual(await context.fill([]), { messages: [], total: 0, again: 0, limit: 300, exact: true });
});

test('what nothing can hold is counted about, and no template runs for it', async () => {
  const { context, asked } = contextOf({ limit: 100 });
  const chat = [...turns(1), /** @type {const} */ ({ role: 'user', content: 'x'.repeat(40_000) })];
  const { total, exact } = await context.fill(chat);
  assert.deepEqual([total, exact, asked.rendered], [10_048, false, 0]);
});

test('a chat as long as any is counted once, and one that nobody could remember is counted about', async () => {
  const { counter } = contextOf();
  let encoded = 0;
  counter._tokenizer = { encode: (text) => ((encoded += 1), encode(text)) };
  const texts = Array.from({ length: 20_000 }, (_, at) => `Said ${at}.`);
  const first = await counter.each(texts, 1000);
  assert.deepEqual([await counter.each(texts, 1000), encoded], [first, 20_000]);
  assert.deepEqual(await counter.each(['x'.repeat(5 << 20), 'y'.repeat(5 << 20), 'four'], 9 << 20), [(5 << 20) / 4, (5 << 20) / 4, 1]);
  assert.equal(encoded, 20_000);
});

test('the oldest go until three quarters are left, in few renderings', async () => {
  const { context, asked } = contextOf();
  const chat = asking(10);
  const proposal = await context.propose(chat, { budget: null, policy: 'ask' });
  assert.ok(proposal.tokens <= 225 && proposal.tokens > 150, String(proposal.tokens));
  assert.deepEqual([proposal.before, proposal.sent, proposal.limit], [536, proposal.tokens, 300]);
  assert.ok(asked.rendered < 8, String(asked.rendered));
  const sent = travelling(left(chat, proposal));
  assert.deepEqual([sent[0].content, sent.at(-1)?.content], [chat[0].content, 'Now?']);
});

test('the policies: all that is not pinned, a quarter by hand, a budget, and another order', async () => {
  const { context } = contextOf();
  const chat = /** @type {any[]} */ (asking(4));
  chat[3] = { ...chat[3], pinned: true };
  const pinned = await context.propose(chat, { budget: null, policy: 'pinned' });
  assert.deepEqual(travelling(left(chat, pinned)).map(({ content }) => content), [chat[0].content, '…', '…', chat[3].content, 'Now?']);
  const none = await context.propose(chat, { budget: null, policy: 'oldest' });
  assert.deepEqual([none.units, none.dropped], [0, []]);
  const quarter = await context.propose(chat, { budget: null, policy: 'oldest', now: true });
  assert.ok(quarter.units > 0 && quarter.tokens <= quarter.before * 0.75);
  const budget = await context.propose(chat, { budget: 150, policy: 'oldest' });
  assert.ok(budget.tokens <= 112 && budget.limit === 150);
  const newest = await context.propose(chat, { budget: 200, policy: 'oldest' }, () => [{ index: 7, unit: { start: 0, stop: 25, kind: 'sentence' } }]);
  assert.deepEqual(newest.dropped, [[7, [[0, 25]]]]);
});

test('where what stays is too much, it says so and drops nothing', async () => {
  const { context } = contextOf({ limit: 100 });
  const chat = [...turns(3), /** @type {const} */ ({ role: 'user', content: 'x'.repeat(120) })];
  await assert.rejects(context.propose(chat, { budget: null, policy: 'oldest' }), { code: 'context_too_small' });
  const huge = [/** @type {const} */ ({ role: 'user', content: 'x'.repeat(9000) }), ...turns(2).slice(1)];
  await assert.rejects(context.propose(huge, { budget: null, policy: 'oldest' }), { code: 'context_too_small' });
});

test('a prompt has room, or is refused with both numbers', () => {
  const room = (/** @type {number} */ prompt, /** @type {any} */ about) =>
    requireRoom(prompt, 800, { maxTokens: 1000, mode: 'chat', context: { budget: null, reserve: true }, ...about });
  room(700, {});
  assert.throws(() => room(701, {}), { code: 'context_full', message: /701 tokens and the budget of this chat is 800/ });
  room(799, { maxTokens: 1 });
  room(800, { context: { budget: null, reserve: false } });
  assert.throws(() => room(801, { context: { budget: 900, reserve: false } }), { code: 'context_full' });
  assert.throws(() => room(100, { context: { budget: 100, reserve: true } }), { code: 'context_full' });
  room(5000, { context: undefined });
  room(5000, { mode: 'plain' });
});

test('a text is counted once, what was asked for longest ago is forgotten, and others come in between', async () => {
  let [encoded, breaths, now] = [0, 0, 0];
  const counter = new TokenCounter(
    { encode: (text) => ((encoded += 1), (now += 5), Array(text.length)) },
    { now: () => now, breathe: async () => void (breaths += 1) },
  );
  assert.deepEqual([counter.of('abc'), counter.of('abc'), counter.of(''), encoded], [3, 3, 0, 1]);
  assert.deepEqual(await counter.each(Array.from({ length: 10 }, (_, at) => `${at}`), 100), Array(10).fill(1));
  assert.equal(breaths, 5);
  for (let at = 0; at < 21_000; at += 1) counter.of(`text ${at}`);
  encoded = 0;
  counter.of('text 20999');
  counter.of('abc');
  assert.equal(encoded, 1);
});
