import assert from 'node:assert/strict';
import { test } from 'node:test';
import { IDBFactory } from 'fake-indexeddb';
import { ChatStore } from '../../src/chats/store.js';
import { newChat, reply, say } from '../../src/chats/tree.js';

/** @param {string} id @param {number} now */
function chatOf(id, now) {
  return reply(say(newChat({ id, now }), `question of ${id}`, now), 'an answer', { reason: 'eos' }, now);
}

/** @param {'indexeddb'|'memory'} kind */
function storeOf(kind) {
  return ChatStore.open({ indexedDB: kind === 'memory' ? null : new IDBFactory(), channel: null });
}

test('search finds chats by all words, newest first, and says what it left out', async () => {
  const store = await storeOf('indexeddb');
  await store.saveAll([chatOf('rome', 1), chatOf('paris', 2), chatOf('oslo', 3)]);
  const { found, leftOut } = await store.search('QUESTION of');
  assert.deepEqual(found.map((chat) => chat.id), ['oslo', 'paris', 'rome']);
  assert.equal(leftOut, 0);
  const both = await store.search(['rome', 'answer']);
  assert.deepEqual(both.found.map((chat) => chat.line), ['question of rome']);
  assert.deepEqual(await store.search('nowhere'), { found: [], leftOut: 0 });
  assert.equal((await store.search('', { most: 2 })).leftOut, 1);
  await assert.rejects(store.search('x', { signal: AbortSignal.abort() }), { name: 'AbortError' });
});

test('a search stops reading once it has found enough, and says how many chats it did not read', async () => {
  const store = await storeOf('indexeddb');
  await store.saveAll(Array.from({ length: 250 }, (_, index) => chatOf(`c${index}`, index)));
  const { found, leftOut } = await store.search('question', { most: 20 });
  assert.deepEqual([found.length, leftOut], [20, 230]);
  assert.deepEqual(found.slice(0, 2).map((chat) => chat.id), ['c249', 'c248']);
});

test('large chats are searched too, one after the other', async () => {
  const store = await storeOf('memory');
  const large = Array.from({ length: 3 }, (_, index) =>
    say(newChat({ id: `l${index}`, now: 1 }), `${'x'.repeat(5 << 20)} needle`, index),
  );
  await store.saveAll([...large, chatOf('small', 9)]);
  assert.equal((await store.search('needle')).found.length, 3);
  assert.equal((await store.search('')).found.length, 4);
});
