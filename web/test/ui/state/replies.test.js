import assert from 'node:assert/strict';
import { test } from 'node:test';
import { path } from '../../../src/chats/tree.js';
import { AppError } from '../../../src/common/errors.js';
import { DEFAULTS } from '../../../src/settings/settings.js';
import { App } from '../../../src/ui/state/app.js';
import { ScriptedEngine, memoryChats, settled, untilReady } from '../scripted.js';

const DONE = {
  reason: 'eos', tokens: 2, promptTokens: 5, promptSent: 5, seed: '1', adapter: null, ttft: 0.1, tokensPerSecond: 9,
};

/** A page that is ready; its clock and its frames are the test's. */
async function harness() {
  const engine = new ScriptedEngine();
  /** @type {{now: number, frames: (() => void)[]}} */
  const world = { now: 0, frames: [] };
  const store = await memoryChats();
  const app = new App({
    spawn: () => /** @type {any} */ (engine),
    openChats: async () => store,
    url: 'http://host',
    loadToken: () => null,
    settings: { ...DEFAULTS, system: 'Be brief.', temperature: 0.5, seed: '7', stop: ['###'] },
    saveSettings: () => true,
    clock: { now: () => world.now, frame: (run) => world.frames.push(run) },
  });
  await untilReady(app, engine);
  const frame = () => world.frames.splice(0).forEach((run) => run());
  const token = (/** @type {string} */ text) => engine.last('reply').args[1].onToken({ text });
  const finish = async (/** @type {string} */ text, about = {}) => {
    engine.last('reply').resolve({ ...DONE, ...about, text });
    await settled();
  };
  return { app, engine, world, frame, token, finish, store };
}

const shown = (/** @type {App} */ app) => path(app.library.chat.value).map(({ content }) => content);

test('a message is sent with the system prompt and the settings that are set', async () => {
  const { app, engine, finish } = await harness();
  assert.equal(app.send('Hello'), true);
  const [request] = engine.last('reply').args;
  assert.deepEqual(request.messages, [
    { role: 'system', content: 'Be brief.' },
    { role: 'user', content: 'Hello' },
  ]);
  assert.deepEqual(request.params, { temperature: 0.5, seed: '7' });
  assert.deepEqual([request.maxTokens, request.stop, request.mode], [DEFAULTS.max_tokens, ['###'], 'chat']);
  await finish('Hi.');
  assert.deepEqual(shown(app), ['Hello', 'Hi.']);
  assert.equal(app.library.chat.value.model, 'tiny');
});

test('tokens between two frames are drawn at once', async () => {
  const { app, frame, token, finish } = await harness();
  app.send('Hello');
  for (const piece of ['a', 'b', 'c']) token(piece);
  assert.equal(app.replies.live.value?.text, '');
  frame();
  assert.equal(app.replies.live.value?.text, 'abc');
  await finish('abcd');
  frame();
  assert.deepEqual([app.replies.live.value, shown(app)], [null, ['Hello', 'abcd']]);
});

test('one reply is made at a time, and other chats can be read meanwhile', async () => {
  const { app, engine, finish } = await harness();
  app.send('Long question');
  const { id } = app.library.chat.value;
  app.newChat();
  assert.equal(app.hindrance.value, 'A reply is being written in another chat.');
  assert.equal(app.busyHere.value, false);
  await finish('Done.');
  assert.equal(app.hindrance.value, null);
  await app.openChat(id);
  assert.deepEqual(shown(app), ['Long question', 'Done.']);
  assert.equal(engine.calls.filter(({ name }) => name === 'reply').length, 1);
});

test('a reply that is stopped is kept with its reason', async () => {
  const { app, engine, token, finish } = await harness();
  app.send('Hello');
  token('Half');
  app.replies.stop();
  app.replies.stop();
  assert.equal(engine.stopped, 1);
  await finish('Half', { reason: 'cancelled' });
  assert.equal(path(app.library.chat.value).at(-1)?.reason, 'cancelled');
});

test('a reply that breaks off keeps its text and says why', async () => {
  const { app, engine, token } = await harness();
  app.send('Hello');
  token('Half a rep');
  engine.last('reply').reject(new AppError('session_unstable', 'the server forgets'));
  await settled();
  const last = path(app.library.chat.value).at(-1);
  assert.deepEqual([last?.content, last?.reason, last?.stats?.message],
    ['Half a rep', 'session_unstable', 'the server forgets']);
  assert.equal(app.connection.phase.value.name, 'offline');
});

test('a message without any reply says why and can be tried again', async () => {
  const { app, engine, finish } = await harness();
  app.send('Hello');
  engine.last('reply').reject(new AppError('prompt_too_long', 'too long'));
  await settled();
  assert.equal(app.replies.failure.value?.message, 'too long');
  assert.deepEqual(shown(app), ['Hello']);
  assert.equal(app.regenerate(null), true);
  assert.equal(app.replies.failure.value, null);
  await finish('Now.');
  assert.deepEqual(shown(app), ['Hello', 'Now.']);
});

test('another reply and another wording are branches beside the first ones', async () => {
  const { app, finish } = await harness();
  app.send('Hello');
  await finish('One.');
  app.regenerate(path(app.library.chat.value)[1].id);
  await finish('Two.');
  assert.deepEqual(shown(app), ['Hello', 'Two.']);
  app.branch(path(app.library.chat.value)[1].id, -1);
  assert.deepEqual(shown(app), ['Hello', 'One.']);
  app.edit(path(app.library.chat.value)[0].id, 'Good day');
  await finish('Three.');
  app.branch(path(app.library.chat.value)[0].id, -1);
  assert.equal(shown(app)[0], 'Hello');
});

test('what is taken back can be brought back', async () => {
  const { app, finish } = await harness();
  app.send('Hello');
  await finish('Hi.');
  app.undo();
  assert.deepEqual(shown(app), []);
  app.toasts.shown.value.at(-1)?.action?.run();
  assert.deepEqual(shown(app), ['Hello', 'Hi.']);
});

test('a page that goes while a reply is made leaves what was there', async () => {
  const { app, token, store } = await harness();
  app.send('Hello');
  token('Half');
  app.hide();
  await app.library.idle();
  const saved = await store.load(app.library.chat.value.id);
  const kept = path(saved).map(({ content, reason }) => [content, reason]);
  assert.deepEqual(kept, [['Hello', undefined], ['Half', 'interrupted']]);
});

test('the session of a deleted chat is given back to the server', async () => {
  const { app, engine, token, finish } = await harness();
  app.send('Hello');
  token('Yes');
  await finish('Yes');
  const { id } = app.library.chat.value;
  await app.deleteChat(id);
  assert.deepEqual(engine.closedChats, [id]);
});

test('a reply to a chat that is deleted meanwhile does not bring it back', async () => {
  const { app, engine, token, finish, store } = await harness();
  app.send('Hello');
  token('Half');
  await app.deleteChat(app.library.chat.value.id);
  assert.equal(engine.stopped, 1);
  app.hide();
  await finish('Half', { reason: 'cancelled' });
  await app.library.idle();
  assert.deepEqual(await store.list(), []);
});

test('a lost and regained connection is told in words', async () => {
  const { app, engine } = await harness();
  engine.onNotice({ type: 'reconnecting', reason: 'closed', attempt: 1, delay: 0 });
  assert.match(app.notice.value ?? '', /Connection lost/);
  engine.onNotice({ type: 'reconnected' });
  assert.equal(app.notice.value, null);
  assert.match(app.toasts.shown.value[0].text, /goes on/);
});

test('that the server lets this chat wait stands there until it has its turn, or is stopped', async () => {
  const { app, engine, finish } = await harness();
  const waiting = { type: 'waiting', code: 'too_many_sessions', delay: 4 };
  app.send('Hello');
  engine.onNotice(waiting);
  assert.match(app.notice.value ?? '', /All places on the server are taken/);
  engine.onNotice({ type: 'waited' });
  assert.deepEqual([app.notice.value, app.toasts.shown.value], [null, []]);
  engine.onNotice(waiting);
  await finish('', { reason: 'cancelled' });
  assert.equal(app.notice.value, null);
});

test('a reply that ends while its chat is being deleted does not bring it back', async () => {
  const { app, engine, store } = await harness();
  app.send('Hello');
  await settled();
  const { id } = app.library.chat.value;
  const remove = store.remove.bind(store);
  store.remove = async (which) => {
    await remove(which);
    engine.last('reply').resolve({ ...DONE, text: 'Hi.' });
    await settled();
  };
  await app.deleteChat(id);
  await app.library.idle();
  assert.deepEqual([await store.list(), app.library.list.value], [[], []]);
});

test('what was taken back comes back as it was shown, and not over what was said since', async () => {
  const { app, finish } = await harness();
  app.send('Hello');
  await finish('First.');
  app.regenerate(null);
  await finish('Second.');
  app.branch(app.library.chat.value.leaf ?? '', -1);
  app.undo();
  const back = app.toasts.shown.value.at(-1)?.action?.run ?? assert.fail();
  back();
  await settled();
  assert.deepEqual(shown(app), ['Hello', 'First.']);
  app.undo();
  const late = app.toasts.shown.value.at(-1)?.action?.run ?? assert.fail();
  app.send('Another question');
  await finish('Another answer.');
  const { id } = app.library.chat.value;
  app.newChat();
  await settled();
  late();
  await app.library.idle();
  await app.openChat(id);
  assert.deepEqual(shown(app), ['Hello', 'First.']);
  app.branch(app.library.chat.value.roots[0], 1);
  assert.deepEqual(shown(app), ['Another question', 'Another answer.']);
});

test('a deleted chat takes what stands in its message field along', async () => {
  const { app, finish } = await harness();
  app.send('Hello');
  await finish('Hi.');
  app.draft.value = 'not sent';
  app.hide();
  const { id } = app.library.chat.value;
  await app.deleteChat(id);
  app.toasts.shown.value.at(-1)?.action?.run();
  assert.deepEqual([app.library.chat.value.id, app.draft.value], [id, '']);
});
