// A page that goes from one of a server's models to another.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DEFAULTS } from '../../../src/settings/settings.js';
import { App } from '../../../src/ui/state/app.js';
import { ScriptedEngine, memoryChats, settled, untilReady } from '../scripted.js';

const DONE = {
  reason: 'eos', tokens: 1, promptTokens: 5, promptSent: 5, seed: '1', adapter: null, ttft: 0.1,
  tokensPerSecond: 9, text: 'Hi.',
};

async function ready() {
  /** @type {any[]} */
  const saved = [];
  const engine = new ScriptedEngine();
  const store = await memoryChats();
  const app = new App({
    spawn: () => /** @type {any} */ (engine),
    openChats: async () => store,
    url: 'http://host',
    loadToken: () => null,
    settings: { ...DEFAULTS },
    saveSettings: (settings) => saved.push(settings),
    clock: { now: () => 0, frame: (run) => run() },
  });
  await untilReady(app, engine);
  return { app, engine, saved };
}

test('a chat remembers the model that answered last, and what is chosen is kept', async () => {
  const { app, engine, saved } = await ready();
  app.send('Hello');
  engine.last('reply').resolve(DONE);
  await settled();
  assert.equal(app.library.chat.value.served, null);
  void app.useModel('b');
  assert.equal(saved.at(-1).model, 'b');
  await untilReady(app, engine);
  assert.equal(engine.last('connect').args[0].url, 'http://host/m/b');
  assert.equal(app.library.chat.value.served, null, 'until it is answered there');
  app.send('And?');
  engine.last('reply').resolve(DONE);
  await settled();
  assert.equal(app.library.chat.value.served, 'b');
});

test('while a reply is written no other model is chosen', async () => {
  const { app, engine, saved } = await ready();
  app.send('Hello');
  await app.useModel('b');
  assert.deepEqual([saved.length, app.settings.value.model], [0, null]);
  engine.last('reply').resolve(DONE);
  await settled();
});

test('of a chat of another model the server is not asked to delete, with words', async () => {
  const { app, engine } = await ready();
  app.send('Hello');
  engine.last('reply').resolve(DONE);
  await settled();
  const { id } = app.library.chat.value;
  void app.useModel('b');
  await untilReady(app, engine);
  await app.forgetChat(id);
  assert.deepEqual(engine.forgotten, []);
  assert.match(app.toasts.shown.value.at(-1)?.text ?? '', /^The chat was with another model/);
});
