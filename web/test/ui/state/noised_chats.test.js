import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FIRST_NOISE } from '../../../src/settings/noise.js';
import { DEFAULTS } from '../../../src/settings/settings.js';
import { App } from '../../../src/ui/state/app.js';
import { ScriptedEngine, memoryChats, settled, untilReady } from '../scripted.js';

const DONE = {
  reason: 'eos', tokens: 1, promptTokens: 5, promptSent: 5, seed: '1', adapter: null, ttft: 0.1,
  tokensPerSecond: 9, text: 'Hi.',
};

/** A page that is ready, and the chats whose key of noise was deleted. */
async function ready() {
  /** @type {string[]} */
  const forgotten = [];
  const forgetNoise = async (/** @type {string} */ chat) => void forgotten.push(chat);
  const engine = Object.assign(new ScriptedEngine(), { forgetNoise });
  const store = await memoryChats();
  const app = new App({
    spawn: () => /** @type {any} */ (engine),
    openChats: async () => store,
    url: 'http://host',
    loadToken: () => null,
    settings: { ...DEFAULTS },
    saveSettings: () => true,
    clock: { now: () => 0, frame: (run) => run() },
  });
  await untilReady(app, engine);
  const answered = async (/** @type {string} */ text) => {
    app.send(text);
    engine.last('reply').resolve(DONE);
    await settled();
    return engine.last('reply').args[0];
  };
  return { app, engine, answered, forgotten };
}

test('a chat is sent without noise unless it is chosen', async () => {
  const { answered } = await ready();
  assert.equal((await answered('Hello')).noise, null);
});

test('noise that is chosen before a chat begins is that of the next ones too', async () => {
  const { app, answered } = await ready();
  app.changeNoise({ ...FIRST_NOISE });
  assert.equal((await answered('Hello')).noise.epsilon, 8);
  app.newChat();
  assert.equal((await answered('Once more')).noise.epsilon, 8);
});

test('noise that is chosen in a chat that has begun is its own, and off it keeps its numbers', async () => {
  const { app, answered } = await ready();
  await answered('Hello');
  app.changeNoise({ ...FIRST_NOISE, epsilon: 3 });
  assert.equal((await answered('And now')).noise.epsilon, 3);
  app.changeNoise({ ...FIRST_NOISE, epsilon: 3, on: false });
  assert.equal((await answered('Plain')).noise, null);
  assert.equal(app.library.chat.value.noise?.epsilon, 3);
  app.newChat();
  assert.equal(app.library.chat.value.noise, null);
});

test('noise that is switched off before a chat begins leaves no trace of it', async () => {
  const { app } = await ready();
  app.changeNoise({ ...FIRST_NOISE });
  app.changeNoise({ ...FIRST_NOISE, on: false });
  assert.equal(app.library.chat.value.noise, null);
  assert.equal(app.settings.value.noise, null);
});

test('a chat that is deleted has its key deleted, also where its noise is off by then', async () => {
  const { app, engine, answered, forgotten } = await ready();
  await answered('Without noise');
  const plain = app.library.chat.value.id;
  app.newChat();
  app.changeNoise({ ...FIRST_NOISE });
  await answered('Hello');
  app.changeNoise({ ...FIRST_NOISE, on: false });
  const noised = app.library.chat.value.id;
  await app.deleteChat(noised);
  await app.deleteChat(plain);
  assert.deepEqual(forgotten, [noised]);
  assert.deepEqual(engine.closedChats, [plain]);
});

test('a key that could not be deleted is told', async () => {
  const { app, engine, answered } = await ready();
  app.changeNoise({ ...FIRST_NOISE });
  await answered('Hello');
  engine.forgetNoise = async () => {
    throw new Error('busy');
  };
  await app.deleteChat(app.library.chat.value.id);
  await settled();
  assert.match(app.toasts.shown.value.at(-1)?.text ?? '', /key of its noise is still in this browser/);
});

test('that a table is looked at is told as long as it lasts', async () => {
  const { app, engine } = await ready();
  engine.onNotice({ type: 'calibrating', done: 0.405 });
  assert.match(app.notice.value ?? '', /40%/);
  engine.onNotice({ type: 'calibrating', done: 1 });
  assert.equal(app.notice.value, null);
});

test('another reply is guessed by the one that stands there, unless the chat ever had noise', async () => {
  const { app, answered, engine } = await ready();
  await answered('Hello');
  app.regenerate(null, 'varied');
  assert.equal(engine.last('reply').args[0].expected, 'Hi.');
  engine.last('reply').resolve(DONE);
  await settled();
  app.changeNoise({ ...FIRST_NOISE });
  await answered('And now');
  app.changeNoise({ ...FIRST_NOISE, on: false });
  app.regenerate(null, 'varied');
  const { noise, expected } = engine.last('reply').args[0];
  assert.deepEqual([noise, expected], [null, '']);
});
