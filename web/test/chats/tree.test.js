import assert from 'node:assert/strict';
import { test } from 'node:test';
import { briefly, copyOf, placed, rename, withSettings } from '../../src/chats/about.js';
import {
  MAX_NODES, amended, continued, editMessage, lastOfUser, messages, newChat, path, redo, regenerateFrom, reply, say, selectSibling, siblings, turns, undo, without,
} from '../../src/chats/tree.js';
import { isBrightness } from '../../src/chats/brightness/kept.js';
import { kept, valuesIn } from '../../src/chats/brightness/runs.js';

/** @typedef {import('../../src/chats/types').Chat} Chat */

/** @param {Chat} chat */
const texts = (chat) => path(chat).map((node) => node.content);

/** Two turns. */
function chatOfTwo() {
  let chat = newChat({ now: 1, id: 'a', system: 'be brief' });
  chat = reply(say(chat, 'one', 2), 'first', { reason: 'eos', stats: { tokens: 3 } }, 3);
  return reply(say(chat, 'two', 4), 'second', { reason: 'length' }, 5);
}

/** Every change leaves the chat before it as it was. @param {Chat} chat */
function frozen(chat) {
  for (const node of Object.values(chat.nodes)) Object.freeze(Object.freeze(node).children);
  Object.freeze(chat.nodes);
  Object.freeze(chat.roots);
  return Object.freeze(chat);
}

test('messages are the system message and the path to the leaf', () => {
  assert.deepEqual(messages(chatOfTwo()), [
    { role: 'system', content: 'be brief' },
    { role: 'user', content: 'one' },
    { role: 'assistant', content: 'first' },
    { role: 'user', content: 'two' },
    { role: 'assistant', content: 'second' },
  ]);
  assert.deepEqual(messages(newChat({})), []);
});

test('the first message names the chat and a later one does not', () => {
  assert.equal(chatOfTwo().title, 'one');
  assert.equal(say(rename(chatOfTwo(), '  My \n chat '), 'three').title, 'My chat');
  assert.equal(rename(chatOfTwo(), '\u0000 ').title, 'one');
});

test('an edited message is a sibling and the first one stays with all that followed', () => {
  const chat = frozen(chatOfTwo());
  const first = path(chat)[0].id;
  const edited = reply(editMessage(chat, first, 'uno', 6), 'primo', {}, 7);
  assert.deepEqual(texts(edited), ['uno', 'primo']);
  assert.deepEqual(siblings(edited, path(edited)[0].id), { ids: [first, 'm5'], index: 1 });
  assert.deepEqual(texts(selectSibling(edited, 'm5', -1)), ['one', 'first', 'two', 'second']);
  assert.deepEqual(texts(selectSibling(edited, 'm5', 1)), ['uno', 'primo']);
  assert.deepEqual(texts(chat), ['one', 'first', 'two', 'second']);
});

test('a reply that is asked for again is a sibling of the first reply', () => {
  const chat = frozen(chatOfTwo());
  const again = regenerateFrom(chat);
  assert.deepEqual(messages(again).at(-1), { role: 'user', content: 'two' });
  const answered = reply(again, 'another', {}, 6);
  assert.equal(siblings(answered, /** @type {string} */ (answered.leaf)).ids.length, 2);
  assert.deepEqual(texts(selectSibling(answered, 'm5', -1)), texts(chat));
  assert.throws(() => regenerateFrom(newChat({})), { code: 'prompt_empty' });
});

test('an undone exchange leaves the path and can be reached again', () => {
  const chat = frozen(chatOfTwo());
  const undone = undo(chat);
  assert.deepEqual(texts(undone), ['one', 'first']);
  assert.deepEqual(redo(undone), chat);
  assert.deepEqual(texts(redo(undo(undone))), texts(chat));
  const other = say(undone, 'deux', 6);
  assert.deepEqual(siblings(other, 'm5'), { ids: ['m3', 'm5'], index: 1 });
  const empty = undo(undone);
  assert.equal(empty.leaf, null);
  assert.equal(undo(empty), empty);
  assert.equal(redo(chat), chat);
});

test('a message that was never answered stays before the next one, and the model gets both as one', () => {
  const chat = say(say(newChat({ system: 'be brief' }), 'unanswered'), 'and more');
  assert.deepEqual(texts(chat), ['unanswered', 'and more']);
  assert.deepEqual(siblings(chat, 'm2'), { ids: ['m2'], index: 0 });
  assert.deepEqual(turns(reply(chat, 'now')), [
    { role: 'system', content: 'be brief' },
    { role: 'user', content: 'unanswered\n\nand more' },
    { role: 'assistant', content: 'now' },
  ]);
  assert.deepEqual(texts(undo(chat)), ['unanswered']);
});

test('the name of a chat follows its first message, and a name that was given stays', () => {
  const chat = reply(say(newChat({}), 'first question'), 'one');
  assert.equal(editMessage(chat, 'm1', 'another question').title, 'another question');
  assert.equal(say(undo(chat), 'a third one').title, 'a third one');
  assert.equal(editMessage(say(chat, 'second'), 'm3', 'second again').title, 'first question');
  assert.equal(editMessage(rename(chat, 'Mine'), 'm1', 'another question').title, 'Mine');
  assert.equal(editMessage(chat, 'm1', '\u200b…').title, '…');
});

test('a reply grows in its place, and beside it where something follows it', () => {
  const chat = frozen(chatOfTwo());
  const grew = continued(chat, 'm4', 'second and more', { reason: 'eos', stats: { tokens: 2 } }, 9);
  assert.deepEqual(texts(grew), ['one', 'first', 'two', 'second and more']);
  assert.deepEqual([grew.nodes.m4.reason, grew.nodes.m4.stats, grew.nodes.m4.created], ['eos', { tokens: 2 }, 5]);
  assert.equal(Object.keys(grew.nodes).length, 4);
  const beside = continued({ ...chat, leaf: 'm2' }, 'm2', 'first and more', { reason: 'length' });
  assert.deepEqual(texts(beside), ['one', 'first and more']);
  assert.deepEqual(siblings(beside, 'm5'), { ids: ['m2', 'm5'], index: 1 });
  assert.equal(continued(continued(chat, 'm4', 'second an', {}), 'm4', 'second and', {}).leaf, 'm4');
  assert.throws(() => continued(chat, 'm1', 'one?'), { code: 'chat_step_invalid' });
});

test('a reply that grows keeps the brightness of what was there', () => {
  const chat = chatOfTwo();
  const { content } = chat.nodes.m4;
  const bright = kept(Uint16Array.from(content, (_, at) => at + 1));
  const lit = { ...chat, nodes: { ...chat.nodes, m4: { ...chat.nodes.m4, brightness: bright } } };
  const grew = continued(lit, 'm4', `${content}!`, {}).nodes.m4;
  const values = [...valuesIn(grew.brightness ?? '', content.length + 1)];
  assert.deepEqual(values, [...content].map((_, at) => at + 1).concat(32768));
  assert.ok(isBrightness(grew.brightness, grew.content));
});

test('a reply that a person has changed is a branch and says so', () => {
  const chat = frozen(chatOfTwo());
  const changed = amended(chat, 'm4', 'the second', 9);
  assert.deepEqual(texts(changed), ['one', 'first', 'two', 'the second']);
  assert.deepEqual([changed.nodes.m5.reason, siblings(changed, 'm5').index], ['edited', 1]);
  assert.throws(() => amended(chat, 'm4', ' '), { code: 'prompt_empty' });
  assert.throws(() => amended(chat, 'm3', 'x'), { code: 'chat_step_invalid' });
});

test('a message is taken out and what follows stays, beside the chat as it was', () => {
  const chat = frozen(chatOfTwo());
  const shorter = without(chat, 'm2', 9);
  assert.deepEqual(texts(shorter), ['one', 'two', 'second']);
  assert.deepEqual([path(shorter)[2].reason, shorter.updated, path(shorter)[1].created], ['length', 9, 4]);
  assert.deepEqual(texts(selectSibling(shorter, path(shorter)[1].id, -1)), texts(chat));
  assert.deepEqual(texts(without(chat, 'm1')), ['first', 'two', 'second']);
  assert.deepEqual(texts(without(chat, 'm4')), ['one', 'first', 'two']);
  assert.equal(without(reply(say(newChat({}), 'a'), 'b'), 'm1').roots.length, 2);
  assert.equal(without(say(newChat({}), 'a'), 'm1').leaf, null);
  assert.throws(() => without(undo(chat), 'm4'), { code: 'chat_step_invalid' });
  assert.throws(() => without(chat, 'toString'), { code: 'chat_step_invalid' });
});

test('of thousands of messages one is taken out at once', () => {
  const chat = without(lineOf(6000), 'm2');
  assert.deepEqual([path(chat).length, Object.keys(chat.nodes).length, path(chat).at(-1)?.content], [5999, 11_998, '5999']);
  assert.throws(() => without(lineOf(12_000), 'm2'), { code: 'chat_too_large' });
});

/** A chat of so many messages, without branches. @param {number} length @returns {Chat} */
function lineOf(length) {
  const role = (/** @type {number} */ at) => /** @type {'user' | 'assistant'} */ (at % 2 ? 'assistant' : 'user');
  const node = (/** @type {number} */ at) => ({ id: `m${at + 1}`, parent: at ? `m${at}` : null, role: role(at), content: `${at}`,
    children: at + 1 < length ? [`m${at + 2}`] : [], created: 1 });
  const nodes = Object.fromEntries(Array.from({ length }, (_, at) => [`m${at + 1}`, node(at)]));
  return { ...newChat({ now: 1 }), nodes, roots: ['m1'], leaf: `m${length}` };
}

test('saves of one streamed reply are the same node', () => {
  const asked = say(newChat({ id: 'a', now: 1 }), 'go', 2);
  const partial = reply(asked, 'so f', { reason: 'interrupted' }, 3);
  const whole = reply(asked, 'so far', { reason: 'eos' }, 4);
  assert.equal(partial.leaf, whole.leaf);
  assert.equal(partial.nodes.m2.reason, 'interrupted');
  assert.deepEqual(Object.keys(whole.nodes), ['m1', 'm2']);
});

test('steps that make no sense are refused with a code', () => {
  const chat = chatOfTwo();
  assert.throws(() => say(chat, ' \n'), { code: 'prompt_empty' });
  assert.throws(() => editMessage(chat, 'm1', ''), { code: 'prompt_empty' });
  assert.throws(() => editMessage(chat, '__proto__', 'x'), { code: 'chat_step_invalid' });
  assert.throws(() => siblings(chat, 'toString'), { code: 'chat_step_invalid' });
  assert.throws(() => reply(chat, 'twice'), { code: 'chat_step_invalid' });
  assert.throws(() => reply(newChat({}), 'to nothing'), { code: 'chat_step_invalid' });
  assert.equal(selectSibling(chat, 'm1', 5), chat);
  assert.equal(selectSibling(chat, 'm1', -1), chat);
});

test('a chat does not grow beyond its bound', () => {
  const ids = Array.from({ length: MAX_NODES }, (_, index) => `m${index + 1}`);
  const node = { parent: null, role: 'user', content: 'x', children: [], created: 1 };
  const nodes = Object.fromEntries(ids.map((id) => [id, { ...node, id }]));
  const chat = /** @type {Chat} */ ({ ...newChat({}), nodes, roots: ids, leaf: 'm1' });
  assert.throws(() => editMessage(chat, 'm1', 'one more'), { code: 'chat_too_large' });
});

test('half characters do not get into a chat', () => {
  const chat = reply(say(newChat({ system: 's\ud800' }), 'a\udc00b'), '\ud83d');
  assert.deepEqual(messages(chat).map((message) => message.content), ['s\ufffd', 'a\ufffdb', '\ufffd']);
  assert.equal(messages(say(newChat({}), 'whole 👍🏽'))[0].content, 'whole 👍🏽');
});

test('a copy has another id and the same branches', () => {
  const copy = copyOf(chatOfTwo(), { id: 'b', now: 9 });
  assert.equal(copy.id, 'b');
  assert.deepEqual(copy.nodes, chatOfTwo().nodes);
  assert.notEqual(copyOf(copy).id, copyOf(copy).id);
});

test('settings of a chat change what is next and not what was', () => {
  const chat = withSettings(chatOfTwo(), { system: '', adapter: 'auto', params: { top_k: 3 } }, 8);
  assert.equal(messages(chat)[0].role, 'user');
  assert.equal(chat.adapter, 'auto');
  assert.equal(chat.updated, 8);
  assert.equal(lastOfUser(chat)?.content, 'two');
});

/** A small reproducible generator (Marsaglia's xorshift32). @param {number} seed */
function random(seed) {
  let state = seed;
  return (/** @type {number} */ below) => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) % below;
  };
}

test('whatever is done, no message is ever lost and the tree stays a tree', () => {
  for (let seed = 1; seed <= 20; seed += 1) {
    const pick = random(seed * 7919);
    let chat = newChat({ now: 0 });
    /** @type {Map<string, string>} */
    const written = new Map();
    for (let step = 0; step < 200; step += 1) {
      chat = changed(chat, pick, `text ${step}`);
      for (const { id, content } of Object.values(chat.nodes)) {
        // A reply may grow, and loses nothing by it.
        assert.ok(content.startsWith(written.get(id) ?? content));
        written.set(id, content);
      }
      assert.deepEqual(Object.fromEntries(written), Object.fromEntries(contents(chat)));
      assertTree(chat);
    }
    assert.deepEqual(reachable(chat), new Set(written.keys()));
  }
});

/** @param {Chat} chat @param {(below: number) => number} pick @param {string} text @returns {Chat} */
function changed(chat, pick, text) {
  const shown = path(chat);
  const any = shown[pick(shown.length || 1)];
  const answerable = shown.at(-1)?.role === 'user';
  const steps = [
    () => say(chat, text),
    () => (answerable ? reply(chat, text) : say(chat, text)),
    () => (any ? editMessage(chat, any.id, text) : say(chat, text)),
    () => (lastOfUser(chat) ? reply(regenerateFrom(chat), text) : chat),
    () => undo(chat),
    () => redo(chat),
    () => (any ? selectSibling(chat, any.id, pick(5) - 2) : chat),
    () => (any ? without(chat, any.id) : chat),
    () => (any?.role === 'assistant' ? amended(chat, any.id, text) : chat),
    () => (any?.role === 'assistant' ? continued(chat, any.id, `${any.content} ${text}`) : chat),
  ];
  return steps[pick(steps.length)]();
}

/** @param {Chat} chat @returns {[string, string][]} */
function contents(chat) {
  return Object.values(chat.nodes).map((node) => [node.id, node.content]);
}

/** @param {Chat} chat */
function assertTree(chat) {
  for (const node of Object.values(chat.nodes)) {
    const above = node.parent === null ? chat.roots : chat.nodes[node.parent].children;
    assert.equal(above.filter((id) => id === node.id).length, 1);
  }
}

/** What arrows between versions can show, from any path. @param {Chat} chat */
function reachable(chat) {
  const seen = new Set();
  const waiting = [...chat.roots];
  for (let id = waiting.pop(); id !== undefined; id = waiting.pop()) {
    seen.add(id);
    waiting.push(...chat.nodes[id].children);
  }
  return seen;
}

test('where a chat stands among others changes neither its messages nor its date', () => {
  const chat = say(newChat({ now: 5 }), 'Hello', 6);
  const put = placed(chat, { pinned: true, folder: '  My\nplans ' });
  assert.deepEqual({ ...put, pinned: undefined, folder: undefined }, { ...chat, pinned: undefined, folder: undefined });
  assert.equal(put.folder, 'My plans');
  assert.deepEqual(briefly(put), { id: chat.id, title: 'Hello', updated: 6, count: 1, pinned: true, folder: 'My plans' });
  assert.deepEqual(placed(put, { pinned: false, folder: '' }), chat);
  assert.equal(placed(put, { folder: '' }).pinned, true);
});
