import assert from 'node:assert/strict';
import { test } from 'node:test';
import { drop, isPinned, pin, places, restore, restoreAll } from '../../../src/chats/context/changes.js';
import { choiceIn } from '../../../src/chats/context/choice.js';
import { exportChat, importChat } from '../../../src/chats/documents.js';
import { recovered, readUnsaved } from '../../../src/chats/recovered.js';
import { said } from '../../../src/chats/said.js';
import { found } from '../../../src/chats/search.js';
import { sizeOf } from '../../../src/chats/size.js';
import { withSettings } from '../../../src/chats/about.js';
import {
  editMessage, kept, newChat, path, regenerateFrom, reply, say, selectSibling, turns, undo,
} from '../../../src/chats/tree.js';
import { unsavedOf } from '../../../src/chats/unsaved.js';

const talked = () => {
  const first = reply(say(newChat({ system: 'Be brief.', now: 1 }), 'One. Two.', 2), 'Uno. Dos.', { reason: 'eos' }, 3);
  return reply(say(first, 'Three. Four.', 4), 'Tres.', { reason: 'eos' }, 5);
};
const contents = (/** @type {any} */ chat) => turns(chat).map(({ content }) => content);

test('what is dropped stays in the chat and does not travel, until it is restored', () => {
  const chat = talked();
  const less = drop(chat, [['m1', [[0, 5]]], ['m2', [[0, 9]]], [null, [[2, 8]]]], 6);
  assert.deepEqual(contents(less), ['Be.', 'Two.', '…', 'Three. Four.', 'Tres.']);
  assert.deepEqual(kept(less).map(({ dropped }) => dropped), [[[2, 8]], [[0, 5]], [[0, 9]], undefined, undefined]);
  assert.deepEqual(path(less).map(({ content }) => content), path(chat).map(({ content }) => content));
  assert.deepEqual(contents(restore(less, 'm2', [0, 5])), ['Be.', 'Two.', 'Uno. ', 'Three. Four.', 'Tres.']);
  assert.deepEqual(contents(restoreAll(less)), contents(chat));
  assert.deepEqual(contents(chat), ['Be brief.', 'One. Two.', 'Uno. Dos.', 'Three. Four.', 'Tres.']);
  assert.equal(restore(chat, 'm1'), chat);
});

test('a message that is to be answered is whole, also the next paragraph of one without an answer', () => {
  const chat = drop(talked(), [['m3', [[0, 7]]]]);
  assert.equal(contents(regenerateFrom(chat)).at(-1), 'Three. Four.');
  const unanswered = say(regenerateFrom(chat), 'And five?');
  assert.equal(contents(unanswered).at(-1), 'Four.\n\nAnd five?');
});

test('undo, another reply and branches leave it as it is; an edited message has all of its text', () => {
  const chat = drop(talked(), [['m1', [[0, 5]]], ['m3', [[0, 7]]]]);
  assert.deepEqual(contents(undo(chat)), ['Be brief.', 'Two.', 'Uno. Dos.']);
  const again = reply(regenerateFrom(chat), 'Tres!', {}, 7);
  assert.deepEqual(contents(again).slice(1), ['Two.', 'Uno. Dos.', 'Four.', 'Tres!']);
  const edited = editMessage(chat, 'm3', 'Three. Five.', 8);
  assert.deepEqual(contents(reply(edited, 'Cinco.')).slice(-2), ['Three. Five.', 'Cinco.']);
  assert.deepEqual(contents(selectSibling(edited, edited.leaf ?? '', -1)).at(-2), 'Four.');
});

test('pinned messages and the system prompt keep their mark; another system prompt has all of its text', () => {
  const chat = pin(pin(drop(talked(), [[null, [[0, 3]]]]), null, true), 'm2', true);
  assert.deepEqual(places(chat).map((place) => isPinned(chat, place)), [true, false, true, false, false]);
  assert.equal(pin(chat, 'm2', true), chat);
  assert.equal(kept(pin(chat, 'm2', false))[2].pinned, undefined);
  assert.equal(contents(withSettings(chat, { adapter: 'a' }))[0], 'brief.');
  assert.equal(contents(withSettings(chat, { system: 'Be long.' }))[0], 'Be long.');
});

test('documents have it, of all branches, and what is no choice is not taken', () => {
  const choice = /** @type {const} */ ({ policy: 'oldest', budget: 900 });
  const chat = { ...pin(drop(undo(drop(talked(), [['m3', [[0, 7]]]])), [[null, [[0, 3]]], ['m2', [[5, 9]]]]), 'm1', true), context: choice };
  const back = importChat(exportChat(chat), { id: chat.id });
  assert.deepEqual(kept(back), kept(chat));
  assert.deepEqual([back.nodes.m3.dropped, back.context], [[[0, 7]], choice]);
  for (const bad of [null, 'ask', {}, { policy: 'all' }, { policy: 'ask', budget: 3 }, { policy: 'ask', budget: 1e12 }]) {
    assert.equal(choiceIn(bad), null);
  }
});

test('a hostile document is refused with the place of what is wrong', () => {
  const document = JSON.parse(exportChat(talked()));
  const node = structuredClone(document);
  node.tree.nodes[1].dropped = [[0, 99]];
  assert.throws(() => importChat(JSON.stringify(node)), /node 1: its 'dropped' are no ranges of its text, in order and apart/);
  document.messages[2].dropped = [[3, 4], [1, 2]];
  assert.throws(() => importChat(JSON.stringify(document)), /message 2: its 'dropped' are no ranges/);
});

test('what is dropped is found by a search, counts as bytes, and is forgotten on the server as it was sent', () => {
  const chat = drop(talked(), [['m2', [[0, 9]]]]);
  assert.equal(found(chat, ['dos'])?.line, 'Uno. Dos.');
  assert.ok(sizeOf(chat) > sizeOf(talked()));
  assert.deepEqual(said(chat).map((messages) => messages[2]?.content), ['…', 'Uno. Dos.', '…', 'Uno. Dos.']);
});

test('a cut that a page could not save any more is put back, an older one is not', () => {
  const saved = talked();
  const cut = drop(saved, [['m2', [[0, 5]]]], 9);
  const left = readUnsaved(JSON.parse(JSON.stringify(unsavedOf(saved, cut)))) ?? assert.fail();
  assert.deepEqual(recovered(saved, left)?.nodes.m2.dropped, [[0, 5]]);
  const later = drop(saved, [['m2', [[5, 9]]]], 10);
  assert.equal(recovered(later, left), null);
  const bad = { ...left, about: { ...left.about, nodes: { m2: { ...left.about.nodes.m2, dropped: [[0, 99]] } } } };
  assert.equal(readUnsaved(bad), null);
});

test('of thousands of messages all are left out and brought back at once', () => {
  const nodes = Object.fromEntries(Array.from({ length: 8000 }, (_, at) => [`m${at + 1}`, { id: `m${at + 1}`, parent: at ? `m${at}` : null,
    role: /** @type {'user' | 'assistant'} */ (at % 2 ? 'assistant' : 'user'), content: 'One.', children: at < 7999 ? [`m${at + 2}`] : [], created: 1 }]));
  const chat = { ...newChat({ now: 1 }), nodes, roots: ['m1'], leaf: 'm8000' };
  const begun = performance.now();
  const less = drop(chat, places(chat).map((place) => [place, [[0, 4]]]));
  assert.equal(kept(less).filter(({ dropped }) => dropped).length, 8000);
  assert.deepEqual(kept(restoreAll(less)), kept(chat));
  assert.ok(performance.now() - begun < 4000);
});
