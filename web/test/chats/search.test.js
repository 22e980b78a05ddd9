import assert from 'node:assert/strict';
import { test } from 'node:test';
import { context, found } from '../../src/chats/search.js';
import { editMessage, newChat, reply, say } from '../../src/chats/tree.js';

/** @param {string} user @param {string} assistant @param {string} [system] */
function chatOf(user, assistant, system) {
  return reply(say(newChat({ id: 'a', now: 1, system }), user, 2), assistant, {}, 3);
}

test('all words must be in title or text, in any case and any order', () => {
  const chat = chatOf('A hotel in Rome?', 'Many are near the station.');
  assert.equal(found(chat, ['STATION', 'rome'])?.line, '…ny are near the station.');
  assert.equal(found(chat, ['rome', 'paris']), null);
});

test('the place is that of the whole phrase where it stands, else of the first word', () => {
  const chat = chatOf('rome and hotel', 'the hotel rome is full');
  assert.equal(found(chat, ['hotel', 'rome'])?.role, 'assistant');
  assert.equal(found(chat, ['rome', 'full'])?.role, 'user');
});

test('words are found without regard to case in every script', () => {
  assert.ok(found(chatOf('Große Straße', 'x'), ['STRASSE']));
  assert.ok(found(chatOf('ΟΔΟΣ', 'x'), ['οδοσ']));
  assert.ok(found(chatOf('İstanbul', 'x'), ['i̇stanbul']));
  assert.ok(found(chatOf('東京タワー', 'x'), ['タワー']));
  assert.ok(found(chatOf('cafe\u0301', 'x'), ['CAFÉ']));
});

test('other branches and the system message are searched too', () => {
  const chat = editMessage(chatOf('hidden treasure', 'gone', 'be a pirate'), 'm1', 'something else', 4);
  assert.equal(found(chat, ['treasure'])?.line, 'hidden treasure');
  assert.equal(found(chat, ['pirate'])?.role, 'system');
});

test('without words a chat is shown by its first line', () => {
  const { line, role } = found(chatOf('\n\n first line \nsecond', 'x'), []) ?? {};
  assert.deepEqual([line, role], ['first line', 'user']);
  assert.deepEqual(found(newChat({ id: 'a', now: 1 }), [])?.line, '');
});

test('the place stands on one line with what is around it and cuts no character', () => {
  const far = `${'👍'.repeat(40)} needle\n${'👎'.repeat(60)}`;
  const line = context(far, 'needle');
  assert.match(line, /^…👍+ needle 👎+…$/u);
  assert.equal(context('ßßßß needle', 'needle'), 'ßßßß needle');
  assert.equal(context(`${'ß'.repeat(50)}x needle`, 'needle'), `…${'ß'.repeat(14)}x needle`);
});
