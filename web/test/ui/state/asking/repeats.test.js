import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newChat, nodeOf, path, reply, say } from '../../../../src/chats/tree.js';
import { AppError } from '../../../../src/common/errors.js';
import { DEFAULTS } from '../../../../src/settings/settings.js';
import { App } from '../../../../src/ui/state/app.js';
import { circumstances, isSame, mark, varied } from '../../../../src/ui/state/asking/repeats.js';
import { ScriptedEngine, memoryChats, settled, untilReady } from '../../scripted.js';

const DONE = {
  reason: 'eos', tokens: 2, promptTokens: 5, promptSent: 5, seed: '1', adapter: null, ttft: 0.1, tokensPerSecond: 9,
};

async function harness(about = {}) {
  const engine = new ScriptedEngine();
  const store = await memoryChats();
  const app = new App({
    spawn: () => /** @type {any} */ (engine),
    openChats: async () => store,
    url: 'http://host',
    loadToken: () => null,
    settings: { ...DEFAULTS, ...about },
    saveSettings: () => true,
    clock: { now: () => 0, frame: (run) => run() },
  });
  await untilReady(app, engine);
  const finish = async (/** @type {string} */ text, reason = 'eos') => {
    engine.last('reply').resolve({ ...DONE, reason, text });
    await settled();
  };
  const asked = () => engine.calls.filter(({ name }) => name === 'reply').length;
  const leaf = () => /** @type {string} */ (app.library.chat.value.leaf);
  return { app, engine, finish, asked, leaf };
}

const said = (/** @type {App} */ app) => path(app.library.chat.value).map(({ content }) => content);

test('at temperature 0 another reply is not made before it was said that it is the same', async () => {
  const { app, engine, finish, asked, leaf } = await harness({ temperature: 0 });
  app.send('Hello');
  await finish('One.');
  assert.equal(app.regenerate(leaf()), false);
  assert.deepEqual([app.repeating.value, asked()], [leaf(), 1]);
  assert.equal(app.regenerate(leaf(), 'varied'), true);
  assert.equal(app.repeating.value, null);
  assert.deepEqual(engine.last('reply').args[0].params, { temperature: 0.8 });
  await finish('Two.');
  assert.deepEqual(said(app), ['Hello', 'Two.']);
  assert.equal(app.settings.value.temperature, 0, 'for that reply alone');
  // The one that was drawn differs from what the settings give.
  assert.equal(app.regenerate(leaf()), true);
  await finish('One.');
  assert.equal(app.regenerate(leaf()), false);
  assert.equal(app.regenerate(leaf(), 'as_set'), true);
  assert.deepEqual(engine.last('reply').args[0].params, { temperature: 0 });
});

test('it is made at once where it may differ', async () => {
  const { app, finish, asked, leaf } = await harness({ temperature: 0 });
  app.send('Hello');
  await finish('Half', 'cancelled');
  assert.equal(app.regenerate(leaf()), true, 'after a stop');
  await finish('One.');
  app.change({ temperature: 0.5 });
  assert.equal(app.regenerate(leaf()), true, 'when it is drawn');
  await finish('Two.');
  assert.equal(app.regenerate(leaf()), true, 'drawn once more');
  await finish('Three.');
  app.change({ temperature: 0 });
  assert.equal(app.regenerate(leaf()), true, 'with other settings than before');
  assert.equal(asked(), 5);
});

test('the offer goes with the next message and with the chat', async () => {
  const { app, finish, leaf } = await harness({ temperature: 0 });
  app.send('Hello');
  await finish('One.');
  app.regenerate(leaf());
  app.send('Next');
  assert.equal(app.repeating.value, null);
  await finish('Two.');
  app.regenerate(leaf());
  app.newChat();
  assert.equal(app.repeating.value, null);
});

test('noise makes another reply, and the model may say what is likeliest', () => {
  const wishes = { params: {}, maxTokens: 10, stop: [] };
  const chat = newChat({});
  const made = mark(circumstances(chat, wishes));
  const answered = reply(say(chat, 'a'), 'b', { reason: 'eos', stats: { made } });
  const node = nodeOf(answered, 'm2');
  assert.equal(isSame(node, answered, wishes, undefined), true);
  assert.equal(isSame(node, answered, wishes, { temperature: 0.7 }), false);
  assert.equal(isSame(node, answered, wishes, { temperature: 0.7, top_k: 1 }), true);
  assert.equal(isSame(node, { ...answered, noise: /** @type {any} */ ({ on: true }) }, wishes, undefined), false);
  assert.equal(isSame(node, { ...answered, system: 'other' }, wishes, undefined), false);
  assert.deepEqual(varied({ ...wishes, params: { top_k: 1, seed: 5n } }, undefined).params, { top_k: 0, temperature: 0.8 });
});

test('what was refused for good is not offered again until something is other', async () => {
  const { app, engine } = await harness();
  app.send('Far too long');
  engine.last('reply').reject(new AppError('context_overflow', 'the chat is too long'));
  await settled();
  assert.equal(app.unanswerable(), true);
  app.change({ max_tokens: 5 });
  assert.equal(app.unanswerable(), false);
  app.change({ max_tokens: DEFAULTS.max_tokens });
  app.regenerate(null);
  engine.last('reply').reject(new AppError('server_busy', 'later'));
  await settled();
  assert.equal(app.unanswerable(), false);
});

test('what was undone can be brought back until something is said', async () => {
  const { app, finish } = await harness();
  app.send('Hello');
  await finish('One.');
  app.undo();
  const labels = () => app.toasts.shown.value.map(({ action }) => action?.label);
  assert.deepEqual(labels(), ['Bring back']);
  app.send('Instead');
  assert.deepEqual(labels(), []);
});
