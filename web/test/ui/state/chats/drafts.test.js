import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newChat, say } from '../../../../src/chats/tree.js';
import { DEFAULTS } from '../../../../src/settings/settings.js';
import { App } from '../../../../src/ui/state/app.js';
import { Drafts } from '../../../../src/ui/state/chats/drafts.js';
import { ScriptedEngine, memoryChats, settled } from '../../scripted.js';

const fresh = () => newChat({ system: '', adapter: null, noise: null });

/** @param {string} [full] what writing throws */
function storage(full) {
  const kept = new Map();
  return {
    kept,
    getItem: (/** @type {string} */ key) => kept.get(key) ?? null,
    setItem: (/** @type {string} */ key, /** @type {string} */ value) => {
      if (full) throw new DOMException(full, full);
      kept.set(key, value);
    },
  };
}

/** @param {any} [memory] */
function harness(memory = null) {
  const chats = [say(fresh(), 'one'), say(fresh(), 'two'), fresh()];
  let shown = chats[0];
  return {
    chats,
    drafts: new Drafts(() => shown, memory),
    show: (/** @type {any} */ chat) => (shown = chat),
    again: () => new Drafts(() => shown, memory),
  };
}

test('each chat has a draft of its own, and new chats share one', () => {
  const { drafts, show, chats } = harness();
  drafts.value = 'for one';
  show(chats[1]);
  assert.equal(drafts.value, '');
  drafts.value = 'for two';
  show(chats[2]);
  drafts.value = 'for a new one';
  show(fresh());
  assert.equal(drafts.value, 'for a new one');
  show(chats[0]);
  assert.equal(drafts.value, 'for one');
  drafts.value = '';
  assert.equal(drafts.value, '');
});

test('a reload keeps them, and a chat that is gone takes its own along', () => {
  const { drafts, show, chats, again } = harness(storage());
  drafts.value = 'for one';
  show(chats[1]);
  drafts.value = 'for two';
  drafts.keep();
  drafts.forget(chats[0].id);
  assert.equal(again().value, 'for two');
  show(chats[0]);
  assert.equal(again().value, '');
});

test('tabs do not take away each other’s drafts', () => {
  const { drafts, show, chats, again } = harness(storage());
  const other = again();
  drafts.value = 'for one';
  drafts.keep();
  show(chats[1]);
  other.value = 'for two';
  other.keep();
  assert.equal(again().value, 'for two');
  show(chats[0]);
  assert.equal(again().value, 'for one');
});

test('what is kept is bounded; the page itself has it all', () => {
  const memory = storage();
  const { drafts, show, again } = harness(memory);
  const chats = Array.from({ length: 40 }, (_, index) => say(fresh(), `${index}`));
  for (const chat of chats) {
    show(chat);
    drafts.value = `draft of ${chat.id}`;
  }
  show(chats[39]);
  drafts.value = 'x'.repeat(20_001);
  drafts.keep();
  assert.equal(drafts.value.length, 20_001);
  assert.equal(JSON.parse([...memory.kept.values()][0]).length, 30);
  const later = again();
  const found = chats.map((chat) => {
    show(chat);
    return later.value !== '';
  });
  assert.deepEqual(found, chats.map((_, index) => index >= 9 && index < 39));
});

test('a storage that keeps nothing, or holds something else, is no obstacle', () => {
  for (const text of ['', '{', '7', '[1, ["a"], ["b", 2]]']) {
    const memory = storage();
    memory.kept.set('gatelink.drafts', text);
    assert.equal(harness(memory).drafts.value, '');
  }
  const { drafts, again } = harness(storage('QuotaExceededError'));
  drafts.value = 'kept by the page';
  drafts.keep();
  assert.deepEqual([drafts.value, again().value], ['kept by the page', '']);
});

test('what is typed before the chat that was open last is there stands in its field', async () => {
  const { drafts, show, chats } = harness();
  const open = (/** @type {any} */ chat, /** @type {string} */ typed) => drafts.during(async () => {
    drafts.value += typed;
    show(chat);
  });
  show(chats[2]);
  drafts.value = 'for a new one';
  await open(chats[0], ' and this');
  assert.equal(drafts.value, ' and this');
  show(chats[2]);
  assert.equal(drafts.value, 'for a new one');
  await open(chats[0], ' more');
  assert.equal(drafts.value, ' and this\n more');
  show(chats[2]);
  await open(chats[1], '');
  assert.equal(drafts.value, '');
  show(chats[2]);
  await open(fresh(), ' still');
  assert.equal(drafts.value, 'for a new one still');
});

test('who types while the saved chats are opened goes on in the chat that is shown then', async () => {
  const store = await memoryChats();
  const last = say(fresh(), 'Hello');
  await store.save(last);
  const memory = storage();
  memory.setItem('gatelink.chat', last.id);
  /** @type {(store: any) => void} */
  let opened = () => {};
  const app = new App({
    spawn: () => /** @type {any} */ (new ScriptedEngine()),
    openChats: () => new Promise((resolve) => (opened = resolve)),
    url: 'http://host',
    loadToken: () => null,
    settings: DEFAULTS,
    saveSettings: () => true,
    memory: { ...memory, removeItem: () => {} },
  });
  void app.start();
  app.draft.value = 'typed at once';
  opened(store);
  await settled();
  await settled();
  assert.deepEqual([app.library.chat.value.id, app.draft.value], [last.id, 'typed at once']);
});
