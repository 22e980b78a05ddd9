import assert from 'node:assert/strict';
import { test } from 'node:test';
import { said } from '../../src/chats/said.js';
import { editMessage, newChat, path, reply, say } from '../../src/chats/tree.js';

test('every reply of every branch is there with what led to it, the newest first', () => {
  const first = reply(say(newChat({ system: 'S' }), 'one'), 'uno');
  const edited = reply(editMessage(first, path(first)[0].id, 'two'), 'due');
  assert.deepEqual(said(edited).map((messages) => messages.map(({ content }) => content)), [
    ['S', 'two', 'due'],
    ['S', 'one', 'uno'],
  ]);
});

test('a message without a reply, and an empty reply, led to nothing', () => {
  assert.deepEqual(said(reply(say(newChat(), 'one'), '')), []);
  assert.deepEqual(said(say(newChat(), 'one')), []);
});

test('of many replies the last ones count', () => {
  let chat = newChat();
  for (let i = 0; i < 40; i++) chat = reply(say(chat, `q${i}`), `a${i}`);
  assert.equal(said(chat).length, 32);
});
