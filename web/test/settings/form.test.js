import assert from 'node:assert/strict';
import { test } from 'node:test';
import { exportChat, importChat } from '../../src/chats/documents.js';
import { withSettings } from '../../src/chats/about.js';
import { newChat, say } from '../../src/chats/tree.js';
import { formIn, formWish } from '../../src/settings/form.js';
import { circumstances } from '../../src/ui/state/asking/repeats.js';
import { shownReply, whyReplyEnded } from '../../src/ui/words/form.js';

/** @type {import('../../types/gatelink').FormChoice} */
const CHOICE = { kind: 'choice', text: ' yes \n\nno\nyes' };

test('choices are one a line, each once', () => {
  assert.deepEqual(formWish(CHOICE), { kind: 'choice', texts: ['yes', 'no'] });
  assert.deepEqual(formWish({ kind: 'regex', text: ' a ' }), { kind: 'regex', text: ' a ' });
  assert.equal(formWish(null), null);
});

test('what lies on the disk and is no form is none', () => {
  assert.equal(formIn({ kind: 'lark', text: '' }), null);
  assert.equal(formIn({ kind: 'regex' }), null);
  assert.equal(formIn({ kind: 'regex', text: 'a'.repeat(300_000) }), null);
  assert.deepEqual(formIn({ ...CHOICE, more: 1 }), CHOICE);
});

test('the form of a chat travels with it', () => {
  const chat = say(withSettings(newChat(), { form: CHOICE }), 'one');
  assert.deepEqual(importChat(exportChat(chat)).form, CHOICE);
  const { tree, ...document } = JSON.parse(exportChat(chat));
  assert.equal(importChat(JSON.stringify({ ...document, tree: { ...tree, form: { kind: 'x' } } })).form, undefined);
});

test('a reply in another form is asked for in other circumstances', () => {
  const wishes = { params: {}, maxTokens: 10, stop: [] };
  const chat = newChat();
  assert.notEqual(circumstances(chat, wishes), circumstances(withSettings(chat, { form: CHOICE }), wishes));
});

test('a reply that is JSON is shown as a block of code, whatever stands in it', () => {
  assert.equal(shownReply('{"a": "*b*"}', 'json_schema'), '```json\n{"a": "*b*"}\n```');
  assert.equal(shownReply('"```"', 'json_object'), '````json\n"```"\n````');
  assert.equal(shownReply('*b*', 'regex'), '*b*');
  assert.equal(shownReply('', 'json_object'), '');
});

test('a form that is whole needs no word, and one that was cut is told', () => {
  /** @param {string} content @param {string} reason */
  const node = (content, reason) => ({ id: 'm1', parent: null, role: /** @type {const} */ ('assistant'), content, reason,
    children: [], created: 0, stats: { form: 'json_schema' } });
  assert.equal(whyReplyEnded(node('{}', 'stop')), null);
  assert.match(whyReplyEnded(node('{"a', 'length')) ?? '', /Cut .* no whole JSON/);
  assert.match(whyReplyEnded(node('{"a', 'stop')) ?? '', /stop texts.*no whole JSON/);
});
