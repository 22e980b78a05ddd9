import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readAttached, withFiles } from '../../src/chats/attachments.js';

const file = (/** @type {string | Uint8Array} */ content, name = 'a.txt') =>
  new File([/** @type {any} */ (content)], name);

test('a file stands below the message, between fences that are longer than its own', async () => {
  const read = await readAttached(file('one\n```\ntwo\n\n', 'notes.md'));
  assert.equal(withFiles('Look:', [read]), 'Look:\n\nnotes.md:\n````\none\n```\ntwo\n````');
  assert.equal(withFiles('Look:', []), 'Look:');
});

test('a mark at the beginning is no part of the text', async () => {
  assert.equal((await readAttached(file('\ufeffone'))).text, 'one');
});

test('what is no text, or too large, is refused by name', async () => {
  const refused = { code: 'attachment_refused', message: /a\.txt cannot go along/ };
  await assert.rejects(readAttached(file(new Uint8Array([0xff, 0xfe]))), refused);
  await assert.rejects(readAttached(file('a\0b')), refused);
  await assert.rejects(readAttached(file('x'.repeat((1 << 20) + 1))), refused);
});

test('a name that would begin a line or turn the writing is one word', async () => {
  assert.equal((await readAttached(file('x', 'a\n\u202eb.txt'))).name, 'a  b.txt');
});
