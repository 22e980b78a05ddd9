import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MemoryRecords } from '../../../../src/chats/records.js';
import { reply, say } from '../../../../src/chats/tree.js';
import { fileName } from '../../../../src/ui/state/chats/files.js';
import { Library } from '../../../../src/ui/state/chats/library.js';
import { Toasts } from '../../../../src/ui/state/toasts.js';
import { memoryChats, settled } from '../../scripted.js';

async function harness() {
  const records = new MemoryRecords();
  const store = await memoryChats(records);
  const toasts = new Toasts(() => 0);
  const kept = new Map();
  const memory = { getItem: (/** @type {string} */ key) => kept.get(key) ?? null,
    setItem: (/** @type {string} */ key, /** @type {string} */ value) => void kept.set(key, value),
    removeItem: (/** @type {string} */ key) => void kept.delete(key) };
  const open = async () => store;
  const defaults = () => ({ system: 'Be brief.', adapter: null });
  const make = () => new Library({ open, toasts, defaults, memory });
  const library = make();
  await library.start();
  return { library, records, store, toasts, make };
}

/** @param {Library} library @param {string} text */
async function begun(library, text) {
  library.fresh();
  library.put(reply(say(library.chat.value, text), 'Yes.', { reason: 'eos' }));
  await library.idle();
  return library.chat.value.id;
}

test('a new chat has the user’s system prompt and is kept with its first message only', async () => {
  const { library } = await harness();
  library.fresh();
  assert.equal(library.chat.value.system, 'Be brief.');
  assert.deepEqual(library.list.value, []);
  await begun(library, 'First question');
  assert.deepEqual(library.list.value.map(({ title }) => title), ['First question']);
});

test('a page that is opened again shows the chat that was open last', async () => {
  const { library, make } = await harness();
  await begun(library, 'One');
  const id = await begun(library, 'Two');
  const again = make();
  await again.start();
  assert.equal(again.chat.value.id, id);
});

test('a deleted chat can be had back from its toast', async () => {
  const { library, toasts } = await harness();
  const id = await begun(library, 'Precious');
  await library.remove(id);
  assert.deepEqual(library.list.value, []);
  assert.notEqual(library.chat.value.id, id);
  toasts.shown.value[0].action?.run();
  await library.idle();
  const [back] = /** @type {{id: string}[]} */ (library.list.value);
  assert.equal(back.id, id);
  assert.equal(library.chat.value.id, id);
});

test('a chat that another tab has changed is not overwritten, and can be kept as a copy', async () => {
  const { library, records, toasts } = await harness();
  const id = await begun(library, 'Shared');
  const other = await memoryChats(records);
  await other.save({ ...(await other.load(id)), title: 'Theirs' });
  library.put({ ...library.chat.value, title: 'Mine' });
  await library.idle();
  const action = toasts.shown.value.at(-1)?.action;
  assert.equal(action?.label, 'Keep as a copy');
  action?.run();
  assert.notEqual(library.chat.value.id, id);
  await library.idle();
  const titles = library.list.value.map(({ title }) => title).sort();
  assert.deepEqual(titles, ['Mine', 'Theirs']);
});

test('a page that was away shows what another tab made of its chat meanwhile, without having been told', async () => {
  const { library, records } = await harness();
  const id = await begun(library, 'Shared');
  await library.wake();
  assert.equal(library.chat.value.noise, null);
  const other = await memoryChats(records);
  const noise = { on: true, epsilon: null, sigma: 0.5, delta: 1e-5, clip: null, budget: null };
  await other.save({ ...(await other.load(id)), noise });
  await library.wake();
  assert.deepEqual(library.chat.value.noise, noise);
});

test('a message that is written while the state of another tab is read stays on the page', async () => {
  const { library, store: opened } = await harness();
  const id = await begun(library, 'Shared');
  const store = /** @type {any} */ (opened);
  const theirs = { ...(await store.load(id)), title: 'Theirs' };
  /** @type {(chat: any) => void} */
  let loaded = () => {};
  store.load = () => new Promise((resolve) => (loaded = resolve));
  store.onChange([id]);
  await settled();
  library.chat.value = say(library.chat.value, 'Just written');
  loaded(theirs);
  await settled();
  assert.notEqual(library.chat.value.title, 'Theirs');
});

test('search finds words of any message, and no words give the whole list', async () => {
  const { library } = await harness();
  await begun(library, 'About ferns');
  await begun(library, 'About moss');
  await library.search('moss');
  assert.deepEqual(library.found.value?.found.map(({ title }) => title), ['About moss']);
  await library.search('  ');
  assert.equal(library.found.value, null);
});

test('a chat survives its file, and one file holds all of them', async () => {
  const { library } = await harness();
  const id = await begun(library, 'Carried over');
  await begun(library, 'Another');
  const one = await library.document(id);
  const all = await library.allDocuments();
  assert.equal(one?.name, 'Carried-over.json');
  await library.take([/** @type {{blob: Blob}} */ (one).blob, /** @type {{blob: Blob}} */ (all).blob]);
  const titles = library.list.value.map(({ title }) => title).sort();
  assert.deepEqual(titles, ['Another', 'Another', 'Carried over', 'Carried over', 'Carried over']);
});

test('imported chats have the dates of their files, the newest first and shown', async () => {
  const { library } = await harness();
  const file = (/** @type {string} */ content, /** @type {number} */ lastModified) => {
    const messages = [{ role: 'user', content }];
    return new File([JSON.stringify({ format: 'gatelink.conversation', version: 1, model: '', messages })], 'x.json', {
      lastModified,
    });
  };
  await library.take([file('middle', 2_000_000), file('newest', 3_000_000), file('oldest', 1_000_000)]);
  assert.deepEqual(library.list.value.map(({ title, updated }) => [title, updated]), [
    ['newest', 3_000_000],
    ['middle', 2_000_000],
    ['oldest', 1_000_000],
  ]);
  assert.equal(library.chat.value.title, 'newest');
});

test('a file that is no chat takes in nothing', async () => {
  const { library } = await harness();
  const good = new Blob(['{"format":"gatelink.conversation","version":1,"model":"m","messages":[]}']);
  await assert.rejects(library.take([good, new Blob(['no'])]), { code: 'conversation_file_invalid' });
  assert.deepEqual(library.list.value, []);
});

test('only chats that are shown or replied to stay in memory', async () => {
  const { library } = await harness();
  const [first, second] = [await begun(library, 'One'), await begun(library, 'Two')];
  await settled();
  assert.equal(library.get(first), undefined);
  library.keep((id) => id === second);
  await library.select(first);
  await settled();
  assert.equal(library.get(second)?.id, second);
});

test('names of files have letters of any language and nothing else', () => {
  assert.equal(fileName('Was ist das? / Über λ'), 'Was-ist-das-Über-λ.json');
  assert.equal(fileName('../..'), 'chat.json');
});

test('a storage that takes nothing is no reason to lose a message', async () => {
  const store = await memoryChats();
  const full = () => {
    throw new DOMException('full', 'QuotaExceededError');
  };
  const memory = { getItem: () => null, setItem: full, removeItem: () => {} };
  const defaults = () => ({ system: '', adapter: null });
  const library = new Library({ open: async () => store, toasts: new Toasts(() => 0), defaults, memory });
  await library.start();
  await begun(library, 'First question');
  assert.deepEqual(library.list.value.map(({ title }) => title), ['First question']);
});

test('a chat that was renamed and is not shown is read anew when it is opened', async () => {
  const { library, records } = await harness();
  const id = await begun(library, 'First question');
  library.fresh();
  await settled();
  await library.rename(id, 'Renamed');
  await library.idle();
  await settled();
  const other = await memoryChats(records);
  await other.save(say(await other.load(id), 'From another tab'));
  await library.select(id);
  assert.equal(library.chat.value.nodes[library.chat.value.leaf ?? ''].content, 'From another tab');
});
