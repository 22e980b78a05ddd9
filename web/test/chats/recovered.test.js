import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readUnsaved, recovered } from '../../src/chats/recovered.js';
import { rename } from '../../src/chats/about.js';
import { continued, newChat, path, regenerateFrom, reply, say } from '../../src/chats/tree.js';
import { unsavedOf } from '../../src/chats/unsaved.js';

/** @typedef {import('../../src/chats/types').Chat} Chat */

/** @param {Chat | null} chat */
const shown = (chat) => (chat ? path(chat).map(({ content, reason }) => [content, reason]) : null);

/** As another page reads it. @param {Chat | undefined} saved @param {Chat} chat */
const left = (saved, chat) => readUnsaved(JSON.parse(JSON.stringify(unsavedOf(saved, chat)))) ?? assert.fail();

const asked = () => say(newChat({ id: 'a', now: 1, system: 'be brief' }), 'one', 2);
const half = (/** @type {Chat} */ chat, /** @type {string} */ text, now = 3) =>
  reply(chat, text, { reason: 'interrupted' }, now);

test('of a long chat only what is new is written down', () => {
  const saved = reply(asked(), 'x'.repeat(10_000), { reason: 'eos' }, 3);
  const chat = half(say(saved, 'two', 4), 'sec', 5);
  assert.deepEqual(Object.keys(unsavedOf(saved, chat).about.nodes), ['m2', 'm3', 'm4'].filter((id) =>
    saved.nodes[id] !== chat.nodes[id]));
  assert.deepEqual(Object.keys(unsavedOf(chat, chat).about.nodes), []);
});

test('a reply that was not saved at all is put back', () => {
  const saved = asked();
  const back = recovered(saved, left(saved, half(saved, 'half a rep')));
  assert.deepEqual(shown(back), [['one', undefined], ['half a rep', 'interrupted']]);
});

test('a reply that was gone on with is completed in its place, unless something follows it', () => {
  const stopped = reply(asked(), 'half', { reason: 'cancelled' }, 3);
  const grew = continued(stopped, 'm2', 'half a reply', { reason: 'interrupted' }, 4);
  assert.deepEqual(shown(recovered(stopped, left(stopped, grew))), [['one', undefined], ['half a reply', 'interrupted']]);
  const followed = say(stopped, 'two', 5);
  const back = recovered(followed, left(stopped, grew));
  assert.deepEqual(back?.nodes.m1.children, ['m2', 'm4']);
});

test('a reply that was saved half is completed, and not put beside itself', () => {
  const saved = asked();
  const stored = { ...half(saved, 'half', 3), revision: 7 };
  const back = recovered(stored, left(saved, half(saved, 'half a rep', 4)));
  assert.deepEqual(shown(back), [['one', undefined], ['half a rep', 'interrupted']]);
  assert.equal(back?.revision, 7);
  assert.deepEqual(back?.nodes.m1.children, ['m2']);
});

test('a reply that ended while its page went has its end', () => {
  const saved = asked();
  const done = reply(saved, 'half and whole', { reason: 'eos', stats: { tokens: 3 } }, 5);
  const back = recovered(half(saved, 'half'), left(saved, done));
  assert.deepEqual(shown(back), [['one', undefined], ['half and whole', 'eos']]);
  assert.deepEqual(back?.nodes.m2.stats, { tokens: 3 });
});

test('where all of it was saved nothing is to do', () => {
  const saved = asked();
  const chat = half(saved, 'all of it');
  assert.equal(recovered(chat, left(saved, chat)), null);
  const whole = reply(saved, 'all of it, and more', { reason: 'eos' }, 9);
  assert.equal(recovered(whole, left(saved, chat)), null);
});

test('a chat that was never saved comes back whole, one that was deleted does not', () => {
  const chat = half(asked(), 'half');
  const back = recovered(null, left(undefined, chat));
  assert.deepEqual([back?.title, back?.system, shown(back)], ['one', 'be brief', shown(chat)]);
  assert.deepEqual(back?.roots, ['m1']);
  assert.equal(recovered(null, left(asked(), chat)), null);
});

test('what another tab has said meanwhile stays, as a branch beside it', () => {
  const saved = reply(asked(), 'first', { reason: 'eos' }, 3);
  const mine = half(say(saved, 'mine', 6), 'to mine', 7);
  const theirs = reply(say(saved, 'theirs', 4), 'to theirs', { reason: 'eos' }, 5);
  const back = recovered(theirs, left(saved, mine)) ?? assert.fail();
  assert.deepEqual(shown(back)?.map(([text]) => text), ['one', 'first', 'mine', 'to mine']);
  assert.deepEqual(back.nodes.m2.children.map((id) => back.nodes[id].content), ['theirs', 'mine']);
  assert.equal(Object.keys(back.nodes).length, 6);
});

test('another reply that was asked for elsewhere stays beside the first one', () => {
  const saved = asked();
  const stored = reply(regenerateFrom(half(saved, 'half')), 'another one', { reason: 'eos' }, 9);
  const back = recovered(stored, left(saved, half(saved, 'half a rep'))) ?? assert.fail();
  assert.deepEqual(back.nodes.m1.children.map((id) => back.nodes[id].content), ['half a rep', 'another one']);
});

test('a chat’s new name is put back, an older one is not', () => {
  const saved = asked();
  assert.equal(recovered(saved, left(saved, rename(saved, 'New', 9)))?.title, 'New');
  assert.equal(recovered(rename(saved, 'Newer', 10), left(saved, rename(saved, 'New', 9))), null);
});

test('what is not as it was written is not taken', () => {
  const good = JSON.parse(JSON.stringify(unsavedOf(undefined, asked())));
  assert.notEqual(readUnsaved(good), null);
  const node = good.about.nodes.m1;
  const about = (/** @type {object} */ other) => ({ ...good, about: { ...good.about, ...other } });
  const bad = [about({ title: 7 }), about({ noise: { on: 'yes' } }), about({ params: 3 }), null, [], 'text', {}, { ...good, known: 1 }, about({ id: 5 }),
    about({ nodes: { m1: null } }),
    about({ nodes: { m2: node } }),
    about({ nodes: { m1: { ...node, role: 'system' } } }),
    about({ nodes: { m1: { ...node, content: '\ud800' } } })];
  assert.deepEqual(bad.map(readUnsaved), bad.map(() => null));
  const orphan = { ...good, about: { ...good.about, leaf: 'm9', nodes: { m1: { ...node, parent: 'm7' } } } };
  assert.equal(recovered(null, readUnsaved(orphan) ?? assert.fail()), null);
});
