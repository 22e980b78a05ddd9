// What is left out is left out of one branch, whichever messages it shares with others.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { drop, droppedOf, restore, restoreAll, turnedBack, withDroppedAt } from '../../../src/chats/context/changes.js';
import { backAt, path } from '../../../src/chats/context/shown.js';
import { withSettings } from '../../../src/chats/about.js';
import { exportChat, importChat } from '../../../src/chats/documents.js';
import { readUnsaved, recovered } from '../../../src/chats/recovered.js';
import { said } from '../../../src/chats/said.js';
import { sizeOf } from '../../../src/chats/size.js';
import {
  amended, continued, editMessage, kept, newChat, redo, regenerateFrom, reply, say, selectSibling, turns, undo, without,
} from '../../../src/chats/tree.js';
import { unsavedOf } from '../../../src/chats/unsaved.js';

/** @typedef {import('../../../src/chats/types').Chat} Chat */

const contents = (/** @type {Chat} */ chat) => turns(chat).map(({ content }) => content);
const talked = () => {
  const first = reply(say(newChat({ system: 'Be brief.', now: 1 }), 'One. Two.', 2), 'Uno. Dos.', { reason: 'eos' }, 3);
  return reply(say(first, 'Three. Four.', 4), 'Tres.', { reason: 'eos' }, 5);
};
/** Two replies to the last message; the second one is shown. */
const parted = () => reply(regenerateFrom(talked()), 'Drei.', { reason: 'eos' }, 6);
const other = (/** @type {Chat} */ chat, /** @type {number} */ offset) => selectSibling(chat, chat.leaf ?? '', offset);
/** @typedef {[string | null, import('../../../src/chats/types').Range[]]} Left */
const FIRST = /** @type {Left} */ (['m1', [[0, 5]]]);
const SYSTEM = /** @type {Left} */ ([null, [[2, 8]]]);

test('a message that two branches share is left out of the one that is shown', () => {
  const chat = parted();
  const less = drop(chat, [FIRST, SYSTEM], 7);
  assert.deepEqual(contents(less), ['Be.', 'Two.', 'Uno. Dos.', 'Three. Four.', 'Drei.']);
  const there = other(less, -1);
  assert.deepEqual(contents(there), ['Be brief.', 'One. Two.', 'Uno. Dos.', 'Three. Four.', 'Tres.']);
  assert.deepEqual(contents(other(there, 1)), contents(less));
  // Each has its own from then on.
  const both = drop(there, [['m2', [[0, 5]]]], 8);
  assert.deepEqual(contents(both).slice(0, 3), ['Be brief.', 'One. Two.', 'Dos.']);
  assert.deepEqual(contents(other(both, 1)), contents(less));
  assert.deepEqual(contents(other(restoreAll(other(both, 1)), -1)), contents(both));
  assert.deepEqual(contents(other(restore(both, 'm2'), 1)), contents(less));
});

test('a branch begins with what is left out where it parts from', () => {
  const less = drop(parted(), [FIRST, SYSTEM]);
  const begun = (/** @type {Chat} */ chat) => contents(chat).slice(0, 2);
  for (const chat of [less, other(less, -1)]) {
    const wanted = begun(chat);
    assert.deepEqual(begun(reply(regenerateFrom(chat), 'Trois.')), wanted);
    assert.deepEqual(begun(reply(editMessage(chat, 'm3', 'Five.'), 'Cinq.')), wanted);
    assert.deepEqual(begun(undo(chat)), wanted);
    assert.deepEqual(begun(reply(say(undo(chat), 'Five.'), 'Cinq.')), wanted);
    assert.deepEqual(begun(amended(chat, chat.leaf ?? '', 'Drrr.')), wanted);
    assert.deepEqual(begun(without(chat, 'm3')), wanted);
    assert.deepEqual(begun(continued(reply(say(chat, 'More.'), 'Yes.'), chat.leaf ?? '', 'Drei. Vier.')), wanted);
    assert.deepEqual(begun(turnedBack(chat, 'm2')), wanted);
  }
});

test('the branch that a step leaves stays as it was', () => {
  const steps = [
    (/** @type {Chat} */ chat) => reply(regenerateFrom(chat), 'Trois.'),
    (/** @type {Chat} */ chat) => editMessage(chat, 'm3', 'Five.'),
    undo,
    (/** @type {Chat} */ chat) => without(chat, 'm3'),
  ];
  for (const chat of [drop(parted(), [FIRST]), other(drop(parted(), [FIRST]), -1)]) {
    for (const step of steps) {
      const gone = drop(step(chat), [['m1', [[5, 9]]], SYSTEM]);
      assert.deepEqual(contents(backAt(gone, chat)), contents(chat));
      assert.equal(contents(gone)[0], 'Be.');
    }
  }
});

test('what is undone keeps what was left out of it, whatever is left out meanwhile', () => {
  const chat = talked();
  const less = drop(undo(chat), [FIRST]);
  assert.deepEqual(contents(less), ['Be brief.', 'Two.', 'Uno. Dos.']);
  assert.deepEqual(contents(redo(less)), contents(chat));
});

test('a message whose branch has more left out is the same object as long as nothing changes', () => {
  const there = other(drop(parted(), [FIRST]), -1);
  const [before] = path(there);
  assert.equal(path({ ...there, title: 'x' })[0], before);
  assert.equal(before.dropped, undefined);
  assert.deepEqual(droppedOf(there, 'm1'), []);
});

test('what a policy left out is brought back on its branch, wherever the chat is by then', () => {
  const chat = parted();
  const less = drop(chat, [FIRST]);
  const back = (/** @type {Chat} */ now) => withDroppedAt(now, chat, [['m1', []]]);
  assert.deepEqual(contents(back(less)), contents(chat));
  const went = reply(say(less, 'More.'), 'Yes.');
  assert.deepEqual(contents(back(went)).slice(0, 5), contents(chat));
  const there = back(drop(other(less, -1), [['m2', [[0, 5]]]]));
  assert.deepEqual(contents(there).slice(1, 3), ['One. Two.', 'Dos.']);
  assert.deepEqual(contents(other(there, 1)), contents(chat));
});

test('a chat that became another one is not gone back in', () => {
  const before = talked();
  const others = reply(say(newChat({ id: before.id }), 'Something else'), 'Yes.');
  assert.throws(() => backAt(others, before), { code: 'chat_step_invalid' });
  assert.throws(() => withDroppedAt(others, before, [['m1', []]]), { code: 'chat_step_invalid' });
  assert.throws(() => drop(others, [['m9', [[0, 1]]]]), { code: 'chat_step_invalid' });
  assert.throws(() => drop(undo(before), [['m3', [[0, 1]]]]), { code: 'chat_step_invalid' });
});

test('documents have it by branch, and those that have one word for all branches still open', () => {
  const less = drop(parted(), [FIRST, SYSTEM]);
  for (const chat of [less, other(less, -1)]) {
    const back = importChat(exportChat(chat), { id: chat.id });
    assert.deepEqual(kept(back), kept(chat));
    assert.deepEqual(contents(other(back, -1)), contents(other(chat, -1)));
    assert.deepEqual(contents(other(back, 1)), contents(other(chat, 1)));
    assert.ok(sizeOf(chat) > sizeOf(parted()));
  }
  const document = JSON.parse(exportChat(less));
  for (const node of document.tree.nodes) delete node.above;
  delete document.tree.system_dropped;
  const shared = importChat(JSON.stringify(document));
  assert.deepEqual(contents(other(shared, -1)).slice(0, 2), ['Be.', 'Two.']);
});

test('what a document says of other messages is checked', () => {
  const document = JSON.parse(exportChat(drop(parted(), [FIRST, SYSTEM])));
  const at = document.tree.nodes.findIndex((/** @type {any} */ { above }) => above);
  const entries = [
    [], {}, 'x', [[0]], [[0, [[0, 5], [4, 6]]]], [[0, [[0, 99]]]], [[at, [[0, 1]]]], [[99, [[0, 1]]]], [[-1, []]],
    [['m1', []]], [[1.5, []]], [[null, [[0, 99]]]], [[0, null]],
  ];
  for (const above of entries) {
    const nodes = document.tree.nodes.with(at, { ...document.tree.nodes[at], above });
    const text = JSON.stringify({ ...document, tree: { ...document.tree, nodes } });
    assert.throws(() => importChat(text), { code: 'conversation_file_invalid' }, JSON.stringify(above));
  }
  const tree = { ...document.tree, system_dropped: [[0, 99]] };
  assert.throws(() => importChat(JSON.stringify({ ...document, tree })), { code: 'conversation_file_invalid' });
});

test('a page that went away leaves it behind by branch, under the ids that messages have by then', () => {
  const saved = parted();
  const chat = drop(saved, [FIRST, SYSTEM], 7);
  const left = readUnsaved(JSON.parse(JSON.stringify(unsavedOf(saved, chat))));
  const back = recovered(saved, /** @type {any} */ (left));
  assert.deepEqual(contents(/** @type {Chat} */ (back)), contents(chat));
  assert.deepEqual(contents(other(/** @type {Chat} */ (back), -1)), contents(saved.leaf ? other(saved, -1) : saved));
  // Another tab has said something meanwhile, under an id that is taken then.
  const elsewhere = reply(say(saved, 'From elsewhere', 8), 'Yes.', {}, 9);
  const more = drop(reply(say(chat, 'From here', 10), 'No.', {}, 11), [['m6', [[0, 5]]]], 12);
  const both = recovered(elsewhere, /** @type {any} */ (readUnsaved(JSON.parse(JSON.stringify(unsavedOf(saved, more))))));
  assert.deepEqual(contents(/** @type {Chat} */ (both)), contents(more));
  assert.equal(readUnsaved(JSON.parse(JSON.stringify(unsavedOf(saved, { ...chat, nodes: { ...chat.nodes, m4: { ...chat.nodes.m4, above: /** @type {any} */ ({ x: [] }) } } })))), null);
});

test('another system prompt has all of its text on every branch', () => {
  const less = drop(parted(), [SYSTEM, FIRST]);
  const anew = withSettings(less, { system: 'Be long.' });
  assert.deepEqual([anew, other(anew, -1)].map((chat) => contents(chat)[0]), ['Be long.', 'Be long.']);
  assert.deepEqual([anew, other(anew, -1)].map((chat) => contents(chat)[1]), ['Two.', 'One. Two.']);
});

test('what the server is asked to forget is what each branch was', () => {
  const less = drop(parted(), [FIRST]);
  const told = said(less).map((turns) => turns.map(({ content }) => content)[1]);
  assert.ok(told.includes('Two.') && told.includes('One. Two.'));
});

test('a reply that is changed or gone on keeps its pin, and what is left out of what stays', () => {
  const pinned = (/** @type {Chat} */ chat) => ({ ...chat, nodes: { ...chat.nodes, m2: { ...chat.nodes.m2, pinned: true } } });
  const chat = drop(pinned(talked()), [['m2', [[0, 5]]]]);
  const shown = (/** @type {Chat} */ now) => path(now)[1];
  assert.deepEqual([shown(amended(chat, 'm2', 'Uno. Tres.')).dropped, shown(amended(chat, 'm2', 'Uno. Tres.')).pinned], [[[0, 5]], true]);
  assert.deepEqual(shown(amended(chat, 'm2', 'Eins.')).dropped, undefined);
  const longer = continued(chat, 'm2', 'Uno. Dos. Tres.');
  assert.deepEqual([shown(longer).dropped, shown(longer).pinned, longer.leaf], [[[0, 5]], true, 'm5']);
  const short = drop(undo(chat), [['m2', [[0, 9]]]]);
  assert.deepEqual(shown(continued({ ...short, nodes: { ...short.nodes, m2: { ...short.nodes.m2, children: [] } } }, 'm2', 'Uno. Dos. Y')).dropped, [[0, 9]]);
});

test('a long chat with many branches is pruned at once in time that grows with both', () => {
  let chat = newChat({ now: 1 });
  for (let turn = 0; turn < 3000; turn += 1) {
    const id = (/** @type {number} */ n) => `m${n}`;
    const [user, model] = [2 * turn + 1, 2 * turn + 2];
    chat.nodes[id(user)] = { id: id(user), parent: turn ? id(user - 1) : null, role: 'user', content: 'One. Two.', children: [id(model)], created: 1 };
    chat.nodes[id(model)] = { id: id(model), parent: id(user), role: 'assistant', content: 'Uno. Dos.', children: turn < 2999 ? [id(model + 1)] : [], created: 1 };
  }
  chat = { ...chat, roots: ['m1'], leaf: 'm6000' };
  for (let branch = 0; branch < 20; branch += 1) chat = { ...editMessage(chat, 'm5999', `Again ${branch}`), leaf: 'm6000' };
  const all = path(chat).slice(0, 5000).map(({ id }) => /** @type {Left} */ ([id, [[0, 5]]]));
  const begun = performance.now();
  const less = drop(chat, all);
  assert.ok(performance.now() - begun < 5000);
  assert.equal(contents(less).filter((content) => content === 'Two.').length, 2500);
  assert.equal(contents(selectSibling(less, 'm5999', 1)).filter((content) => content === 'Two.').length, 0);
});
