import assert from 'node:assert/strict';
import { test } from 'node:test';
import { promptSpans } from '../../../src/engine/attention/transcript.js';

/** Pieces of one token each; what is in angle brackets is a control token. @param {string[]} texts */
const piecesOf = (texts) =>
  texts.map((text, start) => ({ text, start, stop: start + 1, control: /^<.+>$/.test(text) }));

/** @param {string[]} texts @param {[string, string][]} messages */
const spansOf = (texts, messages) =>
  promptSpans(piecesOf(texts), /** @type {any} */ (messages.map(([role, content]) => ({ role, content })))).map(
    ({ text, start, kind }) => [start, kind, text],
  );

test('messages are found between what the template writes', () => {
  const texts = ['<s>', 'system\n', 'Be ', 'brief', '<e>', 'user\n', 'Hi', '<e>', 'assistant\n'];
  assert.deepEqual(spansOf(texts, [['system', ' Be brief\n'], ['user', 'Hi']]), [
    [0, 'control', '<s>'], [1, 'template', 'system\n'], [2, 'system', 'Be '], [3, 'system', 'brief'],
    [4, 'control', '<e>'], [5, 'template', 'user\n'], [6, 'user', 'Hi'], [7, 'control', '<e>'],
    [8, 'template', 'assistant\n'],
  ]);
});

test('a message with a word of the template is the one before a control token', () => {
  const texts = ['<s>', 'user\n', 'user', '<e>', 'assistant\n', 'user', 'ok', '<e>', 'user'];
  const kinds = spansOf(texts, [['user', 'user']]).map(([, kind]) => kind);
  assert.deepEqual(kinds.slice(1, 3), ['template', 'user']);
  assert.equal(kinds[8], 'template');
});

test('a token that reaches over the end of a message is cut there', () => {
  assert.deepEqual(spansOf(['A', 'b: x', 'y. C'], [['user', 'xy.']]), [
    [0, 'template', 'A'], [1, 'template', 'b: '], [1, 'user', 'x'], [2, 'user', 'y.'], [2, 'template', ' C'],
  ]);
});

test('two messages and what is between them may be one token', () => {
  assert.deepEqual(spansOf(['ab|cd'], [['user', 'ab'], ['assistant', 'cd']]), [
    [0, 'user', 'ab'], [0, 'template', '|'], [0, 'assistant', 'cd'],
  ]);
});

test('a message that the template changed counts as the template\'s', () => {
  assert.deepEqual(spansOf(['HELLO'], [['user', 'hello'], ['user', '']]), [[0, 'template', 'HELLO']]);
});

test('a prompt without a template is one message', () => {
  assert.deepEqual(spansOf(['One ', 'two'], [['user', 'One two']]), [[0, 'user', 'One '], [1, 'user', 'two']]);
});
