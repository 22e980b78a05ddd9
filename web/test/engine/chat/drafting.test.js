import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AppError } from '../../../src/common/errors.js';
import { Drafting } from '../../../src/engine/chat/drafting.js';

const LONG = [31, 32, 33, 34, 35, 36, 37, 38, 39];
const signal = new AbortController().signal;
/** @type {(text: string) => number[]} */
const none = () => [];

/** A chat whose server takes a tenth of a second for a step. @param {any} [noised] */
function chatOf(noised = null) {
  /** @type {[number[], number][]} */
  const steps = [];
  const sequence = {
    cached: 1, adapter: null, counters: { steps: 0, resends: 0 },
    shared: (/** @type {number[]} */ tokens) => tokens.length - 1,
    maxContext: async () => 1000,
    interactiveRows: async () => 16,
    cache: async (/** @type {number[]} */ tokens, /** @type {{rows: number}} */ { rows }) => {
      steps.push([[...tokens], rows]);
      return { states: new Float32Array(rows), hidden: new Float32Array(1), rows, exchange: 0.1, compute: 0, queue: 0, wire: 0.1 };
    },
  };
  return { chat: /** @type {any} */ ({ sequence, noised }), steps };
}

/**
 * A reply, token by token. @param {Drafting} drafting @param {any} chat @param {any} request
 * @param {number[]} prompt @param {number[]} reply
 */
async function replied(drafting, chat, request, prompt, reply, idsOf = none) {
  const ahead = drafting.sequence(chat, request, idsOf);
  for (let count = 0; count < reply.length; count++) {
    await ahead.extend([...prompt, ...reply.slice(0, count)], { signal, most: reply.length - count - 1 });
  }
  ahead.ended(prompt, reply);
  return ahead.figures;
}

test('a chat remembers its own replies, and another chat none of them', async () => {
  const drafting = new Drafting();
  const [first, second] = [chatOf(), chatOf()];
  const told = [];
  for (const { chat } of [first, first, second]) told.push(await replied(drafting, chat, {}, [1, 2, 3], LONG));
  assert.equal(told[0].accepted, 0);
  assert.ok(told[1].accepted > 3);
  assert.equal(told[2].accepted, 0);
});

test('replies of other chats with this server are remembered where that is wished, until it is not', async () => {
  const drafting = new Drafting();
  const request = { draftMemory: 'server' };
  const accepted = async (/** @type {any} */ wish) => (await replied(drafting, chatOf().chat, wish, [1, 2, 3], LONG)).accepted;
  await accepted(request);
  assert.ok((await accepted(request)) > 3);
  assert.equal(await accepted({ draftMemory: 'chat' }), 0);
  assert.equal(await accepted(request), 0);
  assert.ok((await accepted(request)) > 3);
  drafting.forget();
  assert.equal(await accepted(request), 0);
});

test('a reply that is being made goes by nothing that is forgotten meanwhile', async () => {
  const drafting = new Drafting();
  const request = /** @type {any} */ ({ draftMemory: 'server' });
  await replied(drafting, chatOf().chat, request, [1, 2, 3], LONG);
  const { chat, steps } = chatOf();
  const ahead = drafting.sequence(chat, request, none);
  await ahead.extend([1, 2, 3], { signal, most: 9 });
  drafting.forget();
  for (let count = 1; count < LONG.length; count++) await ahead.extend([1, 2, 3, ...LONG.slice(0, count)], { signal, most: 9 });
  assert.ok(steps.every(([, rows]) => rows === 1));
});

test('a chat that may go by its own replies alone knows no others from before', async () => {
  const drafting = new Drafting();
  const { chat } = chatOf();
  await replied(drafting, chatOf().chat, { draftMemory: 'server' }, [1, 2, 3], LONG);
  await replied(drafting, chat, { draftMemory: 'server' }, [8, 9], [5, 6]);
  assert.equal((await replied(drafting, chat, { draftMemory: 'chat' }, [1, 2, 3], LONG)).accepted, 0);
});

test('with drafts off, or with noise, a step has one row and nothing is remembered', async () => {
  const drafting = new Drafting();
  const noised = chatOf({ mode: {} });
  const off = chatOf();
  for (let time = 0; time < 2; time++) {
    await replied(drafting, noised.chat, { draftMemory: 'server', expected: 'x' }, [1, 2, 3], LONG, () => LONG);
    await replied(drafting, off.chat, { draftMemory: 'server', drafts: 'off' }, [1, 2, 3], LONG);
  }
  assert.ok([...noised.steps, ...off.steps].every(([, rows]) => rows === 1));
  const { accepted } = await replied(drafting, chatOf().chat, { draftMemory: 'server' }, [1, 2, 3], LONG);
  assert.equal(accepted, 0);
});

test('another reply goes by the one that stands there', async () => {
  const { chat } = chatOf();
  const { accepted } = await replied(new Drafting(), chat, { expected: 'nine tokens' }, [1, 2, 3], LONG, () => LONG);
  assert.ok(accepted > 3);
});

test('a text that cannot be made tokens of is no reason to give no reply', async () => {
  const refuse = () => {
    throw new AppError('text_refused', 'no');
  };
  const { chat } = chatOf();
  assert.equal((await replied(new Drafting(), chat, { expected: 'x' }, [1], [2, 3], refuse)).drafted, 0);
});
