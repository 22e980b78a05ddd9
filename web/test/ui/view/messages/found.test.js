import assert from 'node:assert/strict';
import { test } from 'node:test';
import { messagesWith } from '../../../../src/ui/view/messages/found.js';

const nodes = /** @type {any[]} */ ([
  { id: 'm1', role: 'user', content: 'What is **bold**?' },
  { id: 'm2', role: 'assistant', content: 'The word **bold** text, in STRASSE.' },
]);

test('words are found as they are read, in any case', () => {
  assert.deepEqual(messagesWith(nodes, 'BOLD TEXT'), ['m2']);
  assert.deepEqual(messagesWith(nodes, 'straße'), ['m2']);
  assert.deepEqual(messagesWith(nodes, '**bold**'), ['m1']);
  assert.deepEqual(messagesWith(nodes, '  '), []);
});
