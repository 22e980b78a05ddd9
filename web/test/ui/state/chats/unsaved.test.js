import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MemoryRecords } from '../../../../src/chats/records.js';
import { ChatStore } from '../../../../src/chats/store.js';
import { StorageFull } from '../../../../src/chats/errors.js';
import { path, reply, say } from '../../../../src/chats/tree.js';
import { Library } from '../../../../src/ui/state/chats/library.js';
import { Toasts } from '../../../../src/ui/state/toasts.js';
import { settled } from '../../scripted.js';

/** A browser: pages that come and go over one disk and one memory; `disk` says what becomes of a save. */
function browser() {
  const records = new MemoryRecords();
  const kept = new Map();
  const memory = {
    getItem: (/** @type {string} */ key) => kept.get(key) ?? null,
    setItem: (/** @type {string} */ key, /** @type {string} */ value) => void kept.set(key, value),
    removeItem: (/** @type {string} */ key) => void kept.delete(key),
  };
  const disk = { full: false, silent: false };
  const page = async () => {
    const store = new ChatStore('indexeddb', records, null);
    const save = store.save.bind(store);
    store.save = async (chat) => {
      if (disk.full) throw new StorageFull();
      // A page that goes is not there any more when the disk answers.
      if (disk.silent) return new Promise(() => {});
      return save(chat);
    };
    const defaults = () => ({ system: '', adapter: null });
    const toasts = new Toasts(() => 0);
    const library = new Library({ open: async () => store, toasts, defaults, memory });
    await library.start();
    return { library, toasts };
  };
  return { page, disk, kept, records };
}

/** @param {Library} library */
const shown = (library) => path(library.chat.value).map(({ content }) => content);

/** @param {Library} library @param {string} text */
const half = (library, text) => reply(library.chat.value, text, { reason: 'interrupted' });

test('a page that goes in the middle of a reply loses nothing of it', async () => {
  const { page, disk, kept } = browser();
  const { library } = await page();
  library.put(say(library.chat.value, 'Hello'));
  await library.idle();
  disk.silent = true;
  library.snapshot(half(library, 'Half a rep'));
  library.leave();
  disk.silent = false;
  const { library: next } = await page();
  assert.deepEqual(shown(next), ['Hello', 'Half a rep']);
  assert.equal(path(next.chat.value)[1].reason, 'interrupted');
  assert.deepEqual([...kept.keys()], ['gatelink.chat']);
  const { library: third } = await page();
  assert.deepEqual(shown(third), ['Hello', 'Half a rep']);
});

test('a first message that was never saved is there after a reload', async () => {
  const { page, disk } = browser();
  const { library } = await page();
  disk.silent = true;
  library.put(say(library.chat.value, 'Hello'));
  library.leave();
  disk.silent = false;
  const { library: next } = await page();
  assert.deepEqual(shown(next), ['Hello']);
  assert.deepEqual(next.list.value.map(({ title }) => title), ['Hello']);
});

test('a page that comes back from a cache writes on by itself', async () => {
  const { page, disk, kept } = browser();
  const { library } = await page();
  library.put(say(library.chat.value, 'Hello'));
  await library.idle();
  disk.full = true;
  library.snapshot(half(library, 'Half'));
  await settled();
  library.leave();
  assert.ok(kept.has('gatelink.unsaved'));
  await library.wake();
  assert.ok(!kept.has('gatelink.unsaved'));
});

test('what a deleted chat left behind does not bring it back', async () => {
  const { page, disk, kept } = browser();
  const { library } = await page();
  library.put(say(library.chat.value, 'Hello'));
  await library.idle();
  const { library: other } = await page();
  disk.silent = true;
  library.snapshot(half(library, 'Half'));
  library.leave();
  disk.silent = false;
  await other.remove(library.chat.value.id);
  assert.ok(!kept.has('gatelink.unsaved'));
  const { library: next } = await page();
  assert.deepEqual([shown(next), next.list.value], [[], []]);
});

test('what was left is put back into a chat that another tab shows', async () => {
  const { page, disk } = browser();
  const { library } = await page();
  library.put(say(library.chat.value, 'Hello'));
  await library.idle();
  const { library: other } = await page();
  disk.silent = true;
  library.snapshot(half(library, 'Half'));
  library.leave();
  disk.silent = false;
  await other.recover();
  assert.deepEqual(shown(other), ['Hello', 'Half']);
  other.put(say(other.chat.value, 'Go on'));
  await other.idle();
  assert.equal(other.failed.value.size, 0);
});

test('a chat that the disk does not take says so until it does', async () => {
  const { page, disk } = browser();
  const { library, toasts } = await page();
  disk.full = true;
  library.put(say(library.chat.value, 'Hello'));
  await library.idle();
  const { id } = library.chat.value;
  assert.match(library.failed.value.get(id) ?? '', /storage of this browser is full/);
  assert.deepEqual(toasts.shown.value, []);
  library.fresh();
  await library.idle();
  assert.deepEqual(library.list.value.map(({ title }) => title), ['Hello']);
  await library.select(id);
  assert.deepEqual(shown(library), ['Hello']);
  disk.full = false;
  await library.saveAgain();
  assert.equal(library.failed.value.size, 0);
  const { library: next } = await page();
  assert.deepEqual(shown(next), ['Hello']);
});

test('with a full disk a reload keeps what the page has shown, and says again that it is not saved', async () => {
  const { page, disk } = browser();
  const { library } = await page();
  library.put(reply(say(library.chat.value, 'One'), 'First.', { reason: 'eos' }));
  await library.idle();
  disk.full = true;
  for (const text of ['Two', 'Three']) {
    library.put(reply(say(library.chat.value, text), `To ${text}.`, { reason: 'eos' }));
    await library.idle();
  }
  library.leave();
  const { library: next } = await page();
  await next.idle();
  assert.deepEqual(shown(next), ['One', 'First.', 'Two', 'To Two.', 'Three', 'To Three.']);
  assert.equal(next.failed.value.size, 1);
  next.leave();
  disk.full = false;
  const { library: third } = await page();
  assert.equal(third.failed.value.size, 0);
  assert.deepEqual(shown(third), shown(next));
});

test('a file of all chats has those that are not saved', async () => {
  const { page, disk } = browser();
  const { library } = await page();
  library.put(reply(say(library.chat.value, 'Saved'), 'Yes.', { reason: 'eos' }));
  await library.idle();
  disk.full = true;
  library.fresh();
  library.put(reply(say(library.chat.value, 'Lost'), 'No.', { reason: 'eos' }));
  const file = (await library.allDocuments()) ?? assert.fail();
  const { chats } = JSON.parse(await file.blob.text());
  assert.deepEqual(chats.map((/** @type {any} */ { tree }) => tree.title).sort(), ['Lost', 'Saved']);
});

test('what does not fit into the memory of a page leaves what does', async () => {
  const { page, disk, kept } = browser();
  const { library } = await page();
  disk.full = true;
  library.put(say(library.chat.value, 'x'.repeat(1_000_001)));
  library.fresh();
  library.put(say(library.chat.value, 'Small'));
  await library.idle();
  library.leave();
  assert.ok(kept.get('gatelink.unsaved').length < 1000);
  disk.full = false;
  const { library: next } = await page();
  assert.deepEqual(next.list.value.map(({ title }) => title), ['Small']);
});

test('a memory that holds anything else breaks no start', async () => {
  const { page, kept } = browser();
  for (const text of ['nonsense', '{"a":1}', '[1,["x"],["y",{}],["z",{"known":true,"about":{}}]]']) {
    kept.set('gatelink.unsaved', text);
    const { library } = await page();
    assert.deepEqual(library.list.value, []);
  }
});
