import assert from 'node:assert/strict';
import { test } from 'node:test';
import { exportAll, exportChat, importChat, importChats, readDocument } from '../../src/chats/documents.js';
import { ChatStore } from '../../src/chats/store.js';
import { MAX_NODES, editMessage, messages, newChat, redo, reply, say, undo } from '../../src/chats/tree.js';

/** @typedef {import('../../src/chats/types').Chat} Chat */

/** A chat with branches, an undone exchange and everything that a node may have. */
function branched() {
  const params = { top_k: 3, seed: '7' };
  let chat = newChat({ id: 'a', now: 10, system: 'be brief', adapter: 'auto', params, model: 'tiny' });
  chat = reply(say(chat, 'eins', 11), 'one', { reason: 'eos', stats: { tokens: 1 } }, 12);
  chat = reply(editMessage(chat, 'm1', 'zwei 👍🏽\u2028"\\', 13), 'two', { reason: 'interrupted' }, 14);
  return undo(reply(say(chat, 'drei', 15), 'three', {}, 16));
}

/** @param {Record<string, any>} change @returns {string} */
function spoiled(change) {
  return JSON.stringify({ ...JSON.parse(exportChat(branched())), ...change });
}

/** @param {Record<string, any>} change */
function spoiledTree(change) {
  const { tree } = JSON.parse(exportChat(branched()));
  return spoiled({ tree: { ...tree, ...change } });
}

/** @param {number} index @param {Record<string, any>} change */
function spoiledNode(index, change) {
  const { tree } = JSON.parse(exportChat(branched()));
  Object.assign(tree.nodes[index], change);
  return spoiled({ tree });
}

test('an exported chat comes back with every branch, under another id', () => {
  const chat = branched();
  const back = importChat(exportChat(chat), { now: 99, id: 'b' });
  assert.deepEqual(back, { ...chat, id: 'b' });
  assert.equal(messages(redo(back)).at(-1)?.content, 'three');
});

test('an export has the form that the terminal reads', () => {
  const { format, version, model, messages: spoken } = JSON.parse(exportChat(branched()));
  assert.deepEqual([format, version, model], ['gatelink.conversation', 1, 'tiny']);
  assert.deepEqual(spoken, messages(branched()));
});

test("a document of the terminal's is a chat without branches", () => {
  const spoken = [
    { role: 'system', content: '' },
    { role: 'user', content: 'hi there' },
    { role: 'assistant', content: 'hello', unknown: 1 },
  ];
  const document = { format: 'gatelink.conversation', version: 1, model: 'm', messages: spoken, more: [] };
  const text = JSON.stringify(document);
  const chat = importChat(text, { now: 5 });
  assert.deepEqual(messages(chat), [
    { role: 'user', content: 'hi there' },
    { role: 'assistant', content: 'hello' },
  ]);
  assert.equal(chat.title, 'hi there');
  assert.equal(chat.updated, 5);
  assert.deepEqual(messages(importChat(text.replace('"content":""', '"content":"be"'))).at(0)?.content, 'be');
});

test('a chat without messages can be exchanged too', () => {
  const chat = newChat({ id: 'a', now: 1 });
  assert.deepEqual(importChat(exportChat(chat), { id: 'a' }), chat);
});

test('all chats of a store go into one file and come back', async () => {
  const store = await ChatStore.open({ indexedDB: null, channel: null });
  const chats = [branched(), say(newChat({ id: 'b', now: 1 }), 'second', 2)];
  await store.saveAll(chats);
  const file = await exportAll(store);
  const back = importChats(await readDocument(file));
  assert.deepEqual(back.map((chat) => chat.title), ['zwei 👍🏽 "\\', 'second']);
  assert.deepEqual(back[0].nodes, chats[0].nodes);
  assert.equal(new Set(back.map((chat) => chat.id)).size, 2);
  const empty = await ChatStore.open({ indexedDB: null, channel: null });
  assert.deepEqual(importChats(await (await exportAll(empty)).text()), []);
});

test('chats without a date keep the order of their file, and those with one their dates', () => {
  const plain = (/** @type {string} */ content) => ({
    format: 'gatelink.conversation', version: 1, model: '', messages: [{ role: 'user', content }],
  });
  const chats = [plain('newest'), JSON.parse(exportChat(branched())), plain('oldest')];
  const file = JSON.stringify({ format: 'gatelink.conversations', version: 1, chats });
  const back = importChats(file, { now: 1000 });
  assert.deepEqual(back.map(({ updated }) => updated), [1000, branched().updated, 998]);
  assert.ok(back.every(({ nodes, updated }) => Object.values(nodes).every(({ created }) => created <= updated)));
});

test('a message without an answer and the next one come back as they were', () => {
  const chat = say(say(newChat({ id: 'a', now: 1 }), 'one', 2), 'two', 3);
  const document = JSON.parse(exportChat(chat));
  assert.deepEqual(document.messages, messages(chat));
  assert.deepEqual(importChat(JSON.stringify(document), { id: 'a' }).nodes, chat.nodes);
});

test('a file of one chat is read where a file of many is', () => {
  assert.equal(importChats(exportChat(branched())).length, 1);
});

test('one damaged chat refuses the whole file', () => {
  const good = JSON.parse(exportChat(branched()));
  const chats = [good, { ...good, version: 2 }];
  const text = JSON.stringify({ format: 'gatelink.conversations', version: 1, chats });
  assert.throws(() => importChats(text), { code: 'conversation_file_invalid' });
});

const USER = { role: 'user', content: 'x' };

/** @type {[string, string][]} */
const HOSTILE = [
  ['nothing', ''],
  ['no JSON', '{'],
  ['a number', '7'],
  ['null', 'null'],
  ['a list', '[]'],
  ['deep lists', '['.repeat(200_000) + ']'.repeat(200_000)],
  ['deep objects', `${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}`],
  ['another format', spoiled({ format: 'other' })],
  ['another version', spoiled({ version: 2 })],
  ['a version as text', spoiled({ version: '1' })],
  ['no messages', spoiled({ messages: undefined })],
  ['messages as an object', spoiled({ messages: {} })],
  ['a message that is null', spoiled({ messages: [null] })],
  ['an unknown role', spoiled({ messages: [{ role: 'tool', content: 'x' }] })],
  ['a role of the prototype', spoiled({ messages: [{ role: 'constructor', content: 'x' }] })],
  ['content that is no text', spoiled({ messages: [{ role: 'user', content: ['x'] }] })],
  ['a second system message', spoiled({ messages: [USER, { role: 'system', content: 'y' }] })],
  ['half a character', spoiled({ messages: [{ role: 'user', content: '\ud800' }] })],
  ['half a character in a branch', spoiledNode(0, { content: 'a\udfffb' })],
  ['a tree that is null', spoiled({ tree: null })],
  ['a tree that is a list', spoiled({ tree: [] })],
  ['a tree without nodes', spoiledTree({ nodes: undefined })],
  ['nodes as an object', spoiledTree({ nodes: { length: 1 } })],
  ['a node that is null', spoiledTree({ nodes: [null] })],
  ['too many nodes', spoiledTree({ nodes: Array(MAX_NODES + 1).fill(null) })],
  ['too many messages', spoiled({ messages: Array(MAX_NODES + 2).fill({ role: 'user', content: '' }) })],
  ['its own parent', spoiledNode(1, { parent: 1 })],
  ['a parent behind it', spoiledNode(0, { parent: 3 })],
  ['a parent that is no number', spoiledNode(1, { parent: '0' })],
  ['a negative parent', spoiledNode(1, { parent: -1 })],
  ['a broken parent', spoiledNode(1, { parent: 0.5 })],
  ['a parent that is missing', spoiledNode(1, { parent: undefined })],
  ['a system message within the tree', spoiledNode(1, { role: 'system' })],
  ['a leaf beyond the nodes', spoiledTree({ leaf: 99 })],
  ['a leaf that is text', spoiledTree({ leaf: '__proto__' })],
  ['no leaf', spoiledTree({ leaf: undefined })],
  ['another path than the messages', spoiledTree({ leaf: 1 })],
  ['messages of another path', spoiled({ messages: [{ role: 'user', content: 'eins' }] })],
  ['a reason with markup', spoiledNode(1, { reason: '<b>' })],
  ['a reason that is an object', spoiledNode(1, { reason: {} })],
  ['stats that are deep', spoiledNode(1, { stats: { a: { b: { c: { d: { e: 1 } } } } } })],
  ['stats with a prototype', spoiledNode(1, {}).replace('"tokens":1', '"__proto__":{"x":1}')],
  ['params that are a list', spoiledTree({ params: [] })],
];

for (const [what, text] of HOSTILE) {
  test(`refused with a code: ${what}`, () => {
    assert.throws(() => importChats(text), { code: 'conversation_file_invalid' });
    assert.equal(Object.hasOwn(Object.prototype, 'x'), false);
  });
}

test('keys of prototypes in a document are neither followed nor kept', () => {
  const text = exportChat(branched()).replace('{', '{"__proto__": {"version": 1, "polluted": true},');
  const chat = importChat(text, { id: 'a' });
  assert.deepEqual(chat, branched());
  assert.equal(/** @type {any} */ ({}).polluted, undefined);
  const bare = '{"__proto__": {"format": "gatelink.conversation", "version": 1, "messages": []}}';
  assert.throws(() => importChat(bare), { code: 'conversation_file_invalid' });
});

test('a chat that is too large to be saved is not imported', () => {
  const spoken = [{ role: 'user', content: 'x'.repeat(17 << 20) }];
  const text = JSON.stringify({ format: 'gatelink.conversation', version: 1, model: '', messages: spoken });
  assert.throws(() => importChat(text), { code: 'chat_too_large' });
});

test('details that are only shown fall back instead of refusing a chat', () => {
  const odd = { title: 5, adapter: '<x>', created: -1, updated: 'now', params: undefined };
  const chat = importChat(spoiledTree(odd), { now: 42 });
  assert.deepEqual([chat.title, chat.adapter, chat.created, chat.updated], ['', null, 42, 42]);
  assert.deepEqual(chat.params, {});
});

test('an adapter of a host is kept with its origin, and what is neither falls back', () => {
  const adapterOf = (/** @type {unknown} */ adapter) => importChat(spoiledTree({ adapter })).adapter;
  const good = ['banking', 'auto', 'auto@http://127.0.0.1:8097', 'tax@https://adapters.example.org'];
  assert.deepEqual(good.map(adapterOf), good);
  const odd = [
    '', '@http://h', 'a@', 'a@h', 'a@ftp://h', 'a@http://h/path', 'a@http://h b', 'a b@http://h', 'a@http://u@h', 'a@http://H', 'a@b@http://h',
    `a@http://${'h'.repeat(201)}`, 5, {},
  ];
  for (const adapter of odd) assert.equal(adapterOf(adapter), null, String(adapter));
});

test('files that are too large or no text are refused before they are parsed', async () => {
  const huge = /** @type {Blob} */ ({ size: 2 ** 40 });
  await assert.rejects(readDocument(huge), { code: 'conversation_file_invalid' });
  const binary = new Blob([Uint8Array.of(0xff, 0xfe, 0x00)]);
  await assert.rejects(readDocument(binary), { code: 'conversation_file_invalid' });
});

test('how a chat is noised travels with it, so that it is not sent plain where it is imported', () => {
  const noise = { on: true, epsilon: null, sigma: 0.5, delta: 1e-5, clip: null, budget: 20 };
  const chat = say(newChat({ noise }), 'eins');
  assert.deepEqual(importChat(exportChat(chat)).noise, noise);
  assert.equal(JSON.parse(exportChat(branched())).tree.noise, undefined);
  const { tree, ...document } = JSON.parse(exportChat(chat));
  const spoiledNoise = { ...document, tree: { ...tree, noise: { ...noise, sigma: -1 } } };
  assert.throws(() => importChat(JSON.stringify(spoiledNoise)), { code: 'conversation_file_invalid' });
});

test('a chat keeps by which name its model was asked for, where that is a name', () => {
  const chat = { ...branched(), served: 'b.1' };
  assert.equal(JSON.parse(exportChat(chat)).served, 'b.1');
  assert.equal(importChat(exportChat(chat)).served, 'b.1');
  assert.equal('served' in JSON.parse(exportChat({ ...chat, served: null })), false);
  for (const served of ['../x', '', 7, null]) assert.equal(importChat(spoiled({ served })).served, undefined);
});
