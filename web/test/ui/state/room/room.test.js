import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AppError } from '../../../../src/common/errors.js';
import { kept } from '../../../../src/chats/tree.js';
import { DEFAULTS } from '../../../../src/settings/settings.js';
import { App } from '../../../../src/ui/state/app.js';
import { Meter } from '../../../../src/ui/state/room/meter.js';
import { isFinal, circumstances } from '../../../../src/ui/state/asking/repeats.js';
import { wishesOf } from '../../../../src/ui/state/asking/wishes.js';
import { ScriptedEngine, memoryChats, settled, untilReady } from '../../scripted.js';

const DONE = {
  reason: 'eos', tokens: 2, promptTokens: 5, promptSent: 5, seed: '1', adapter: null, ttft: 0.1, tokensPerSecond: 9,
};
const FULL = new AppError('context_full', 'the prompt has 300 tokens and the budget of this chat is 256');
const PROPOSAL = { dropped: [[1, [[0, 4]]]], units: 1, before: 300, tokens: 190, sent: 190, limit: 256 };

async function harness(about = {}) {
  const engine = new ScriptedEngine();
  const store = await memoryChats();
  const app = new App({
    spawn: () => /** @type {any} */ (engine), openChats: async () => store, url: 'http://host', loadToken: () => null,
    settings: { ...DEFAULTS, temperature: 0, ...about }, saveSettings: () => true, clock: { now: () => 0, frame: (run) => run() },
  });
  await untilReady(app, engine);
  const answer = async (/** @type {string} */ name, /** @type {any} */ value) => {
    const call = engine.last(name);
    if (value instanceof AppError) call.reject(value);
    else call.resolve(value);
    await settled();
  };
  app.send('One.');
  await answer('reply', { ...DONE, text: 'Uno.' });
  app.send('Two.');
  await answer('reply', { ...DONE, text: 'Dos.' });
  const sent = () => engine.last('reply').args[0].messages.map((/** @type {any} */ { content }) => content);
  const replies = () => engine.calls.filter(({ name }) => name === 'reply').length;
  return { app, engine, answer, sent, replies, store };
}

test('a policy makes room by itself, says so, and its cut can be had back', async () => {
  const { app, answer, sent, replies, store } = await harness();
  app.room.choose({ policy: 'oldest', budget: 256 });
  app.send('Three.');
  await answer('reply', FULL);
  assert.equal(app.busyHere.value, true);
  await answer('propose', PROPOSAL);
  assert.deepEqual(sent(), ['One.', '…', 'Two.', 'Dos.', 'Three.']);
  await answer('reply', { ...DONE, text: 'Tres.' });
  assert.deepEqual([replies(), app.replies.failure.value], [4, null]);
  const toast = app.toasts.shown.value.at(-1);
  assert.equal(toast?.text, '1 part left out, 110 tokens freed; 190 tokens are sent again');
  await app.library.idle();
  assert.deepEqual((await store.load(app.library.chat.value.id)).nodes.m2.dropped, [[0, 4]]);
  toast?.action?.run();
  assert.deepEqual(kept(app.library.chat.value).map(({ dropped }) => dropped), Array(6).fill(undefined));
});

test('without a policy, and with noise whatever the policy, a person is asked', async () => {
  for (const about of [{}, { noise: { on: true, epsilon: 8, sigma: null, delta: 1e-5, clip: null, budget: null } }]) {
    const { app, engine, answer, sent, replies } = await harness(about);
    if (about.noise) app.room.choose({ policy: 'oldest', budget: null });
    app.send('Three.');
    assert.deepEqual(engine.last('reply').args[0].context, { budget: null, reserve: true });
    await answer('reply', FULL);
    assert.equal(engine.last('propose'), undefined);
    assert.deepEqual([app.replies.failure.value?.code, app.busyHere.value], ['context_full', false]);
    const chat = app.library.chat.value;
    assert.notEqual(app.room.take(chat, /** @type {any} */ (PROPOSAL)), null);
    assert.equal(app.regenerate(null), true);
    assert.deepEqual([sent()[1], replies()], ['…', 4]);
  }
});

test('who declines is answered in what room there is, until the chat is changed', async () => {
  const { app, engine, answer } = await harness();
  app.room.decline(app.library.chat.value.id);
  app.send('Three.');
  assert.equal(engine.last('reply').args[0].context.reserve, false);
  await answer('reply', { ...DONE, text: 'Tres.' });
  app.room.drop('m2', [[0, 4]]);
  app.send('Four.');
  assert.equal(engine.last('reply').args[0].context.reserve, true);
});

test('a proposal for a chat that went another way is not taken', async () => {
  const { app } = await harness();
  const before = app.library.chat.value;
  app.undo();
  assert.equal(app.room.take(before, /** @type {any} */ (PROPOSAL)), null);
  assert.equal(app.library.chat.value.nodes.m2.dropped, undefined);
});

test('a stop while room is made ends it, and what cannot be made to fit is told', async () => {
  const { app, answer, replies } = await harness();
  app.room.choose({ policy: 'oldest', budget: 256 });
  app.send('Three.');
  await answer('reply', FULL);
  app.replies.stop();
  await answer('propose', PROPOSAL);
  assert.deepEqual([replies(), app.busyHere.value, app.replies.failure.value?.code], [3, false, 'context_full']);
  app.regenerate(null);
  await answer('reply', FULL);
  await answer('propose', new AppError('context_too_small', 'what stays is too much'));
  assert.deepEqual([replies(), app.replies.failure.value?.code], [4, 'context_full']);
});

test('nothing changes while a reply is written, and what is dropped by hand is another prompt', async () => {
  const { app, answer } = await harness();
  const leaf = String(app.library.chat.value.leaf);
  assert.equal(app.regenerate(leaf), false, 'the same again');
  app.repeating.value = null;
  app.room.drop('m2', [[0, 4]]);
  assert.equal(app.regenerate(leaf), true, 'another one');
  app.room.restore('m2');
  app.room.pin('m1', true);
  assert.deepEqual([app.library.chat.value.nodes.m2.dropped, app.library.chat.value.nodes.m1.pinned], [[[0, 4]], undefined]);
  await answer('reply', new AppError('prompt_too_long', 'too long'));
  const failure = app.replies.failure.value ?? assert.fail();
  const wishes = wishesOf(app.settings.value);
  assert.equal(isFinal(failure, circumstances(app.library.chat.value, wishes)), true);
  app.room.restoreAll();
  assert.equal(isFinal(failure, circumstances(app.library.chat.value, wishes)), false);
});

test('the meter counts one state at a time, a text alone while a reply is made, and forgets what it cannot count', async () => {
  const { app, engine, answer } = await harness();
  /** @type {(() => void)[]} */
  const due = [];
  let busy = false;
  const meter = new Meter({
    library: app.library, connection: app.connection, gate: app.gate, draft: () => 'typed', busy: () => busy,
    timers: { set: (run) => due.push(run), clear: () => due.splice(0) },
  });
  const fire = async () => (due.splice(0).forEach((run) => run()), settled());
  const fill = { messages: [1, 2, 3, 4], total: 30, again: 3, limit: 200, exact: true };
  const counts = () => engine.calls.filter(({ name }) => name === 'count').length;
  assert.deepEqual([meter.fill, meter.budget], [null, 256]);
  meter.ask();
  meter.ask();
  await fire();
  assert.deepEqual([engine.last('count').args[1].length, engine.last('count').args[2]], [4, 'typed']);
  meter.ask();
  await fire();
  assert.equal(counts(), 1, 'the first is not over');
  await answer('count', { fill, text: 2 });
  assert.deepEqual([meter.fill, meter.typed.value, meter.budget], [fill, 2, 200]);
  await fire();
  assert.deepEqual([counts(), engine.last('count').args[1]], [2, null]);
  await answer('count', { fill: null, text: 2 });
  meter.sent();
  assert.deepEqual([meter.fill?.total, meter.typed.value], [32, 0]);
  busy = true;
  app.room.drop('m2', [[0, 4]]);
  meter.ask();
  await fire();
  assert.equal(engine.last('count').args[1], null);
  await answer('count', { fill: null, text: 2 });
  busy = false;
  app.room.choose({ policy: 'ask', budget: 100 });
  assert.equal(meter.budget, 100);
  meter.ask();
  await fire();
  await answer('count', new AppError('template_failed', 'no'));
  assert.equal(meter.fill, null);
});
