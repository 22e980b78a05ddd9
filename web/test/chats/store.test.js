import assert from 'node:assert/strict';
import { test } from 'node:test';
import { IDBFactory, IDBObjectStore } from 'fake-indexeddb';
import { MAX_CHATS, ChatStore } from '../../src/chats/store.js';
import { copyOf, rename } from '../../src/chats/about.js';
import { newChat, reply, say } from '../../src/chats/tree.js';

/** @typedef {import('../../src/chats/types').Chat} Chat */

/** @param {string} id @param {number} [now] */
function chatOf(id, now = 1) {
  return reply(say(newChat({ id, now }), `question of ${id}`, now), 'an answer', { reason: 'eos' }, now);
}

/** Without the save that it came from. @param {Chat} chat */
function plain({ revision: _, ...chat }) {
  return chat;
}

/** Two tabs over one database. */
async function twoTabs() {
  const indexedDB = new IDBFactory();
  const channel = null;
  return [await ChatStore.open({ indexedDB, channel }), await ChatStore.open({ indexedDB, channel })];
}

/** @param {'indexeddb'|'memory'} kind */
async function storeOf(kind) {
  const indexedDB = kind === 'memory' ? null : new IDBFactory();
  const store = await ChatStore.open({ indexedDB, channel: null });
  assert.equal(store.kind, kind);
  return store;
}

for (const kind of /** @type {const} */ (['indexeddb', 'memory'])) {
  test(`${kind}: a chat is what was saved and lists begin with the newest`, async () => {
    const store = await storeOf(kind);
    await store.save(chatOf('old', 5));
    await store.save(chatOf('new', 9));
    assert.deepEqual(plain(await store.load('old')), chatOf('old', 5));
    const expected = { id: 'new', title: 'question of new', updated: 9, count: 2 };
    assert.deepEqual((await store.list())[0], expected);
    await store.remove('new');
    await store.remove('never there');
    assert.deepEqual((await store.list()).map((chat) => chat.id), ['old']);
    await assert.rejects(store.load('new'), { code: 'chat_unknown' });
  });

  test(`${kind}: all of several chats are saved or none is`, async () => {
    const store = await storeOf(kind);
    const large = say(newChat({ id: 'large' }), 'x'.repeat(17 << 20));
    await assert.rejects(store.saveAll([chatOf('a'), large]), { code: 'chat_too_large' });
    assert.deepEqual(await store.list(), []);
    await store.saveAll([chatOf('a'), chatOf('b')]);
    await store.remove('b');
    assert.deepEqual((await store.list()).map((chat) => chat.id), ['a']);
  });
}

test('what another tab has saved or removed since can be asked for', async () => {
  const [one, two] = await twoTabs();
  await one.save(chatOf('a'));
  assert.equal(await one.isChangedElsewhere('a'), false);
  assert.equal(await two.isChangedElsewhere('a'), false, 'it was never read here');
  await two.save(rename(await two.load('a'), 'theirs'));
  assert.equal(await one.isChangedElsewhere('a'), true);
  await one.load('a');
  assert.equal(await one.isChangedElsewhere('a'), false);
  await two.remove('a');
  assert.equal(await one.isChangedElsewhere('a'), true);
});

test('what another tab has saved since is not overwritten', async () => {
  const [one, two] = await twoTabs();
  await one.save(chatOf('a'));
  const seen = await two.load('a');
  await two.save(rename(seen, 'theirs', 2));
  await assert.rejects(one.save(rename(chatOf('a'), 'mine', 3)), { code: 'chat_changed' });
  assert.equal((await one.load('a')).title, 'theirs');
  await one.save(rename(await one.load('a'), 'mine', 4));
  assert.equal((await two.load('a')).title, 'mine');
});

test('a chat that two tabs have changed can be kept twice', async () => {
  const [one, two] = await twoTabs();
  await one.save(chatOf('a'));
  await two.save(rename(await two.load('a'), 'theirs', 2));
  await one.save(copyOf(rename(chatOf('a'), 'mine', 3), { id: 'b' }));
  assert.deepEqual(new Set((await one.list()).map((chat) => chat.title)), new Set(['theirs', 'mine']));
});

test('a chat that another tab has removed does not come back by a save', async () => {
  const [one, two] = await twoTabs();
  await one.save(chatOf('a'));
  await two.remove('a');
  await assert.rejects(one.save(chatOf('a')), { code: 'chat_changed' });
  assert.deepEqual(await one.list(), []);
});

test('a state from before a load does not overwrite what was loaded', async () => {
  const [one, two] = await twoTabs();
  await one.save(chatOf('a'));
  const mine = await one.load('a');
  await two.save(rename(await two.load('a'), 'theirs', 2));
  // For the export of all chats, for example, while the older state is still on the page.
  const theirs = await one.load('a');
  await assert.rejects(one.save(rename(mine, 'mine', 3)), { code: 'chat_changed' });
  await one.save(rename(theirs, 'both', 4));
  await one.save(rename(theirs, 'again', 5));
  assert.equal((await two.load('a')).title, 'again');
});

test('a chat that was removed here can be put back, and follows no older save', async () => {
  const [one, two] = await twoTabs();
  await one.save(chatOf('a'));
  const chat = await one.load('a');
  await one.remove('a');
  await one.save(chat);
  await two.save(rename(await two.load('a'), 'theirs', 2));
  await one.load('a');
  await assert.rejects(one.save(rename(chat, 'mine', 3)), { code: 'chat_changed' });
});

test('one chat that another tab has changed keeps all of a list from being saved', async () => {
  const [one, two] = await twoTabs();
  await one.save(chatOf('a'));
  await two.save(rename(await two.load('a'), 'theirs', 2));
  await assert.rejects(one.saveAll([chatOf('new'), chatOf('a')]), { code: 'chat_changed' });
  assert.deepEqual((await two.list()).map((chat) => chat.title), ['theirs']);
});

test('two tabs do not give one id to two chats', async () => {
  const [one, two] = await twoTabs();
  await one.save(chatOf('a'));
  await assert.rejects(two.save(chatOf('a')), { code: 'chat_changed' });
});

test('saves of one tab follow each other without waiting', async () => {
  const store = await storeOf('indexeddb');
  const titles = Array.from({ length: 20 }, (_, index) => `title ${index}`);
  const saves = titles.map((title, index) => store.save(rename(chatOf('a'), title, index)));
  await Promise.all(saves);
  assert.equal((await store.load('a')).title, 'title 19');
});

test('a save that fails leaves the one before and does not stop the next', async () => {
  const store = await storeOf('indexeddb');
  await store.save(chatOf('a'));
  const original = IDBObjectStore.prototype.put;
  let left = 1;
  IDBObjectStore.prototype.put = function put(/** @type {[any, any?]} */ ...args) {
    // The chat goes in and its summary does not.
    if (left-- === 0) throw new DOMException('no room', 'QuotaExceededError');
    return original.apply(this, args);
  };
  try {
    await assert.rejects(store.save(rename(chatOf('a'), 'lost', 2)), { code: 'storage_full' });
  } finally {
    IDBObjectStore.prototype.put = original;
  }
  assert.deepEqual(plain(await store.load('a')), chatOf('a'));
  await store.save(rename(chatOf('a'), 'kept', 3));
  assert.equal((await store.load('a')).title, 'kept');
});

test('a database that the browser has closed is opened again', async () => {
  const indexedDB = new IDBFactory();
  const store = await ChatStore.open({ indexedDB, channel: null });
  await store.save(chatOf('a'));
  store.close();
  assert.equal((await store.load('a')).id, 'a');
});

test('a browser without a database keeps chats as long as the page', async () => {
  const broken = /** @type {any} */ ({
    open() {
      throw new DOMException('not here', 'SecurityError');
    },
  });
  const store = await ChatStore.open({ indexedDB: broken, channel: null });
  assert.equal(store.kind, 'memory');
  await store.save(chatOf('a'));
  assert.equal((await store.load('a')).id, 'a');
});

test('there are no more chats than a list can show', async () => {
  const store = await storeOf('memory');
  const empty = newChat({ id: 'x', now: 1 });
  const chats = Array.from({ length: MAX_CHATS }, (_, index) => ({ ...empty, id: `c${index}` }));
  await store.saveAll(chats);
  await assert.rejects(store.save(chatOf('one more')), { code: 'too_many_chats' });
  await store.save(rename(chats[0], 'still saved', 2));
  assert.equal((await store.list()).length, MAX_CHATS);
});

test('a chat of 16 MB is the largest, counted as its document has it', async () => {
  const store = await storeOf('memory');
  await store.save(say(newChat({ id: 'a' }), 'x'.repeat((16 << 20) - 2000)));
  for (const content of ['ä'.repeat(9 << 20), `x${'\n'.repeat(9 << 20)}`]) {
    await assert.rejects(store.save(say(newChat({ id: 'b' }), content)), { code: 'chat_too_large' });
  }
});

test('other tabs are told which chats were saved or removed', async () => {
  /** @type {any} */
  const channel = { sent: [], close() {} };
  channel.postMessage = (/** @type {unknown} */ data) => channel.sent.push(data);
  const store = await ChatStore.open({ indexedDB: new IDBFactory(), channel });
  await store.saveAll([chatOf('a'), chatOf('b')]);
  await store.remove('a');
  assert.deepEqual(channel.sent, [['a', 'b'], ['a']]);
  /** @type {string[][]} */
  const heard = [];
  store.onChange = (ids) => heard.push(ids);
  channel.onmessage({ data: ['z'] });
  channel.onmessage({ data: 'nonsense' });
  assert.deepEqual(heard, [['z'], []]);
});

test('a database that never answers is given up, and chats last as long as the page', async () => {
  const silent = /** @type {any} */ ({ open: () => ({}) });
  const store = await ChatStore.open({ indexedDB: silent, channel: null, patience: { opening: 5 } });
  assert.equal(store.kind, 'memory');
});

test('a transaction that never ends fails with a code', async () => {
  const indexedDB = new IDBFactory();
  /** @type {Set<{run: () => void, ms: number}>} */
  const timers = new Set();
  const set = (/** @type {() => void} */ run, /** @type {number} */ ms) => {
    const timer = { run, ms };
    timers.add(timer);
    return timer;
  };
  const patience = { working: 7, timers: { set, clear: (/** @type {any} */ timer) => timers.delete(timer) } };
  const store = await ChatStore.open({ indexedDB, channel: null, patience });
  const original = IDBObjectStore.prototype.get;
  // Another request keeps the transaction alive, and nobody is told.
  IDBObjectStore.prototype.get = function get() {
    const again = () => {
      original.call(this, 'x').onsuccess = again;
    };
    again();
    return /** @type {any} */ ({});
  };
  try {
    const failed = assert.rejects(store.load('a'), { code: 'chat_store_failed', retryable: true });
    let over = false;
    void failed.finally(() => (over = true)).catch(() => {});
    while (!over) {
      for (const { run, ms } of timers) if (ms === 7) run();
      await new Promise((resolve) => setImmediate(resolve));
    }
    await failed;
  } finally {
    IDBObjectStore.prototype.get = original;
  }
  await assert.rejects(store.load('a'), { code: 'chat_unknown' });
});
