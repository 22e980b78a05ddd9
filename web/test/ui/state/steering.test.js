import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newChat, path, say, siblings } from '../../../src/chats/tree.js';
import { AppError } from '../../../src/common/errors.js';
import { DEFAULTS } from '../../../src/settings/settings.js';
import { App } from '../../../src/ui/state/app.js';
import { canContinue } from '../../../src/ui/state/steering.js';
import { ScriptedEngine, memoryChats, settled, untilReady } from '../scripted.js';

/** A page that is ready, and what a browser keeps for it. */
async function harness(settings = {}) {
  const engine = new ScriptedEngine();
  /** @type {Map<string, string>} */
  const kept = new Map();
  const memory = {
    getItem: (/** @type {string} */ key) => kept.get(key) ?? null,
    setItem: (/** @type {string} */ key, /** @type {string} */ value) => void kept.set(key, value),
    removeItem: (/** @type {string} */ key) => void kept.delete(key),
  };
  const store = await memoryChats();
  /** @type {(() => void)[]} */
  const frames = [];
  const app = new App({
    spawn: () => /** @type {any} */ (engine),
    openChats: async () => store,
    url: 'http://host',
    loadToken: () => null,
    settings: { ...DEFAULTS, ...settings },
    saveSettings: () => true,
    memory,
    clock: { now: () => 0, frame: (run) => frames.push(run) },
  });
  await untilReady(app, engine);
  const frame = () => frames.splice(0).forEach((run) => run());
  const token = (/** @type {string} */ text, about = {}) => engine.last('reply').args[1].onToken({ text, ...about });
  const finish = async (/** @type {string} */ text, about = {}) => {
    engine.last('reply').resolve({ reason: 'eos', tokens: 2, seed: '12', text, ...about });
    await settled();
  };
  const fail = async (code = 'connection_lost') => {
    engine.last('reply').reject(new AppError(code, 'it broke'));
    await settled();
  };
  const asked = () => engine.last('reply').args[0];
  /** A first exchange whose reply was stopped. */
  const stopped = async (about = {}) => {
    app.send('Hello');
    token('Half');
    await finish('Half', { reason: 'cancelled', ...about });
    return /** @type {string} */ (app.library.chat.value.leaf);
  };
  return { app, engine, kept, frame, token, finish, fail, asked, stopped, replies: () => engine.calls.filter(({ name }) => name === 'reply').length };
}

const shown = (/** @type {App} */ app) => path(app.library.chat.value).map(({ content }) => content);
const toasts = (/** @type {App} */ app) => app.toasts.shown.value.map(({ text }) => text);

test('a reply that was stopped goes on in its place, with its tokens, its seed and its text at once', async () => {
  const { app, asked, frame, token, finish, stopped } = await harness();
  const node = await stopped();
  const answer = app.steering.answerOf(node);
  assert.ok(answer);
  app.steering.continue(node);
  const { begun, messages, params, answer: next, expected } = asked();
  assert.deepEqual(begun, { answer, text: 'Half' });
  assert.deepEqual([messages.at(-1).content, params.seed, expected], ['Hello', '12', '']);
  assert.notEqual(next, answer);
  assert.deepEqual([app.replies.live.value?.text, app.replies.running.value?.over], ['Half', node]);
  token('Half', { begun: true });
  token(' whole');
  frame();
  assert.equal(app.replies.live.value?.text, 'Half whole');
  await finish('Half whole');
  assert.deepEqual(shown(app), ['Hello', 'Half whole']);
  assert.equal(app.library.chat.value.nodes[node].reason, 'eos');
  assert.equal(app.steering.answerOf(node), next);
});

test('a set seed counts, and one that an imported chat made up does not', async () => {
  const set = await harness({ seed: '7' });
  set.app.steering.continue(await set.stopped());
  assert.equal(set.asked().params.seed, '7');
  for (const seed of ['18446744073709551616', '-1', 12, null, 'x'.repeat(99)]) {
    const other = await harness();
    other.app.steering.continue(await other.stopped({ seed }));
    assert.equal(other.asked().params.seed, undefined);
  }
});

test('a reply that could not go on is as it was, and the page says why', async () => {
  const { app, token, fail, finish, stopped } = await harness();
  const node = await stopped();
  app.steering.continue(node);
  token('Half', { begun: true });
  await fail('branch_invalid');
  assert.deepEqual(shown(app), ['Hello', 'Half']);
  assert.deepEqual([app.library.chat.value.nodes[node].reason, app.replies.failure.value], ['cancelled', null]);
  assert.deepEqual(toasts(app), ['It broke.']);
  app.steering.continue(node);
  await finish('Half', { reason: 'cancelled', tokens: 0 });
  assert.equal(app.library.chat.value.nodes[node].stats?.tokens, 2);
});

test('what had come when it broke off again stays', async () => {
  const { app, token, fail, stopped } = await harness();
  const node = await stopped();
  app.steering.continue(node);
  token('Half', { begun: true });
  token(' and');
  await fail();
  assert.deepEqual(shown(app), ['Hello', 'Half and']);
  assert.equal(app.library.chat.value.nodes[node].reason, 'connection_lost');
});

test('another token begins a branch beside the reply, from anywhere in the chat', async () => {
  const { app, asked, token, finish, fail } = await harness();
  app.send('Hello');
  await finish('First reply');
  app.send('And?');
  await finish('Second reply');
  const first = path(app.library.chat.value)[1].id;
  app.sheet.value = 'likely';
  app.steering.branch(first, 1, 42);
  assert.equal(app.sheet.value, null);
  assert.deepEqual(asked().begun, { answer: app.steering.answerOf(first), text: 'First reply', at: 1, token: 42 });
  assert.equal(asked().messages.length, 1);
  await fail('branch_invalid');
  assert.deepEqual(shown(app), ['Hello', 'First reply', 'And?', 'Second reply']);
  app.steering.branch(first, 1, 42);
  token('First answer', { begun: true });
  token('!');
  await finish('First answer!');
  assert.deepEqual(shown(app), ['Hello', 'First answer!']);
  assert.equal(siblings(app.library.chat.value, /** @type {string} */ (app.library.chat.value.leaf)).ids.length, 2);
  app.branch(/** @type {string} */ (app.library.chat.value.leaf), -1);
  assert.deepEqual(shown(app), ['Hello', 'First reply', 'And?', 'Second reply']);
});

test('a changed reply is a branch, and may go on from there', async () => {
  const { app, asked, finish, stopped } = await harness();
  const node = await stopped();
  app.editing.value = node;
  app.steering.amend(node, 'Halves', false);
  assert.deepEqual([shown(app), app.editing.value], [['Hello', 'Halves'], null]);
  const changed = /** @type {string} */ (app.library.chat.value.leaf);
  assert.equal(canContinue(app.library.chat.value.nodes[changed]), true);
  app.steering.amend(changed, 'Thirds', true);
  assert.deepEqual(asked().begun, { answer: null, text: 'Thirds' });
  await finish('Thirds of it');
  assert.deepEqual(shown(app), ['Hello', 'Thirds of it']);
  assert.equal(siblings(app.library.chat.value, changed).ids.length, 3);
  app.steering.amend(/** @type {string} */ (app.library.chat.value.leaf), ' ', false);
  assert.deepEqual(toasts(app).length, 1);
});

test('a message is taken out and can be brought back; nothing is while a reply is written', async () => {
  const { app, finish, stopped } = await harness();
  const node = await stopped();
  app.send('More');
  app.steering.remove(node);
  assert.deepEqual(shown(app), ['Hello', 'Half', 'More']);
  await finish('Here.');
  app.steering.remove(node);
  assert.deepEqual(shown(app), ['Hello', 'More', 'Here.']);
  app.toasts.shown.value.at(-1)?.action?.run();
  await settled();
  assert.deepEqual(shown(app), ['Hello', 'Half', 'More', 'Here.']);
});

test('a reply that ended by itself, or of which nothing is there, is not gone on with', () => {
  const node = (/** @type {any} */ about) => /** @type {any} */ ({ role: 'assistant', content: 'x', ...about });
  for (const reason of ['cancelled', 'length', 'stop', 'interrupted', 'edited', 'connection_lost']) {
    assert.equal(canContinue(node({ reason })), true, reason);
  }
  for (const about of [{ reason: 'eos' }, { reason: 'context' }, {}, { reason: 'length', content: '' },
    { reason: 'edited', role: 'user' }, { reason: 'stop', stats: { form: 'regex' } }]) {
    assert.equal(canContinue(node(about)), false, JSON.stringify(about));
  }
});

test('the names of the newest 32 replies are known, as long as the replies say the same', async () => {
  const { app, finish } = await harness();
  app.send('Hello');
  await finish('Hi.');
  const chat = app.library.chat.value;
  assert.ok(app.steering.answerOf('m2'));
  app.library.put({ ...chat, nodes: { ...chat.nodes, m2: { ...chat.nodes.m2, content: 'Another tab’s' } } });
  assert.equal(app.steering.answerOf('m2'), null);
  app.library.put(chat);
  for (let i = 0; i < 32; i += 1) app.steering.note({ ...chat, id: `chat${i}` }, `a${i}`);
  assert.equal(app.steering.answerOf('m2'), null);
});

test('a reply that ended by itself while it was being stopped keeps what waits', async () => {
  const { app, finish, replies } = await harness();
  app.send('Hello');
  app.send('Next');
  app.replies.stop();
  await finish('Hi.');
  assert.deepEqual([replies(), app.draft.value], [1, 'Next']);
});

test('what is there of a reply is not read to a listener again', async () => {
  const { app, token, finish, stopped } = await harness();
  const node = await stopped();
  app.steering.continue(node);
  assert.equal(app.spoken.value, '');
  token('Half', { begun: true });
  await finish('Half whole');
  assert.equal(app.spoken.value, 'whole');
});

test('a message that is sent while a reply is written waits for its end', async () => {
  const { app, asked, finish, replies } = await harness();
  app.send('Hello');
  app.type('Next');
  assert.equal(app.send('Next'), true);
  assert.equal(app.send('and more'), true);
  assert.deepEqual([app.queue.shown.value, app.draft.value, replies()], ['Next\n\nand more', '', 1]);
  await finish('Hi.');
  assert.deepEqual([replies(), asked().messages.at(-1).content, app.queue.shown.value], [2, 'Next\n\nand more', '']);
  await finish('Done.');
  assert.deepEqual(shown(app), ['Hello', 'Hi.', 'Next\n\nand more', 'Done.']);
});

test('after a stop or a failure it waits in the field, before what was typed since', async () => {
  for (const end of ['stop', 'fail']) {
    const { app, finish, fail, token, replies } = await harness();
    app.send('Hello');
    app.send('Next');
    app.type('typed');
    token('x');
    if (end === 'stop') await finish('x', { reason: 'cancelled' });
    else await fail();
    assert.deepEqual([replies(), app.queue.shown.value, app.draft.value], [1, '', 'Next\n\ntyped']);
  }
});

test('its files go with it, and stand above the field again where it is taken back', async () => {
  const { app, asked, finish } = await harness();
  app.send('Hello');
  await app.attached.add([new File(['one'], 'a.txt')]);
  app.send('Read this');
  assert.deepEqual([app.attached.waiting.value, app.queue.files.value.map(({ name }) => name)], [[], ['a.txt']]);
  app.queue.takeBack();
  assert.deepEqual([app.queue.files.value, app.attached.waiting.value.map(({ name }) => name)], [[], ['a.txt']]);
  app.send('Read this');
  await finish('Hi.');
  assert.equal(asked().messages.at(-1).content, 'Read this\n\na.txt:\n```\none\n```');
});

test('it is taken back into the field, and belongs to its chat', async () => {
  const { app, finish, replies } = await harness();
  app.send('Hello');
  app.send('Next');
  const { id } = app.library.chat.value;
  app.newChat();
  assert.equal(app.queue.shown.value, '');
  await app.openChat(id);
  app.queue.takeBack();
  assert.deepEqual([app.queue.shown.value, app.draft.value], ['', 'Next']);
  await finish('Hi.');
  assert.equal(replies(), 1);
});

test('it is sent in its chat while another one is shown, and goes with a chat that is deleted', async () => {
  const { app, finish, asked, replies } = await harness();
  app.send('Hello');
  app.send('Next');
  const { id } = app.library.chat.value;
  app.newChat();
  await finish('Hi.');
  assert.deepEqual([replies(), asked().chat, asked().messages.at(-1).content], [2, id, 'Next']);
  app.newChat();
  await app.openChat(id);
  app.send('Third');
  await app.deleteChat(id);
  await finish('Hi', { reason: 'cancelled' });
  assert.deepEqual([app.queue.waiting.value, app.draft.value], [null, '']);
});

test('a page that is loaded again has it in its field, and once it is sent no longer', async () => {
  const { app, kept, finish } = await harness();
  app.send('Hello');
  app.send('Next');
  app.hide();
  const { id } = app.library.chat.value;
  assert.deepEqual(JSON.parse(/** @type {string} */ (kept.get('gatelink.drafts'))), [[id, 'Next']]);
  assert.equal(app.draft.value, '');
  await finish('Hi.');
  assert.deepEqual(JSON.parse(/** @type {string} */ (kept.get('gatelink.drafts'))), []);
});

test('more than eight files are no one message, and stay above the field', async () => {
  const { app, finish, replies } = await harness();
  const files = (/** @type {number} */ count) => Array.from({ length: count }, (_, at) => new File(['x'], `${at}.txt`));
  app.send('Hello');
  await app.attached.add(files(5));
  app.send('Read these');
  await app.attached.add(files(4));
  app.type('and these');
  assert.equal(app.send('and these'), false);
  assert.deepEqual([app.queue.shown.value, app.draft.value, app.attached.waiting.value.length], ['Read these', 'and these', 4]);
  // Taken back, they are too many to be sent as well.
  app.queue.takeBack();
  await finish('Hi.');
  assert.equal(app.send(app.draft.value), false);
  assert.deepEqual([replies(), app.draft.value, app.attached.waiting.value.length], [1, 'Read these\n\nand these', 9]);
  assert.match(toasts(app).at(-1) ?? '', /8 files go with one message/);
  app.attached.remove(app.attached.waiting.value[0]);
  assert.equal(app.send(app.draft.value), true);
  assert.deepEqual([replies(), app.attached.waiting.value], [2, []]);
});

test('what was taken back does not come into a chat that is another one by now', async () => {
  const { app, finish } = await harness();
  app.send('Hello');
  await finish('Hi.');
  const { id } = app.library.chat.value;
  app.undo();
  app.library.put({ ...say(newChat({ id }), 'From another tab') });
  app.toasts.shown.value.at(-1)?.action?.run();
  await settled();
  assert.deepEqual([shown(app), toasts(app)], [['From another tab'], ['This chat is another one by now, without what was taken back.']]);
});
