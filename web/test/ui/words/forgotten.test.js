import assert from 'node:assert/strict';
import { test } from 'node:test';
import { forgottenWords } from '../../../src/ui/words/forgotten.js';

for (const [positions, left, earlier, words] of /** @type {[number, number, boolean, string][]} */ ([
  [0, 0, true, 'The server keeps nothing of this chat that was found'],
  [1158, 0, true, 'The server deleted 1,158 tokens of this chat'],
  [100, 48, true, 'The server deleted 52 tokens of this chat; 48 stay, because other chats begin with them'],
  [100, 100, true, 'The server still has 100 tokens of it: other chats go on from them'],
  [1, 0, false, 'The server deleted 1 token of this chat; what earlier sessions left could not be asked for'],
])) test(`what became of a chat is told: ${words}`, () => assert.equal(forgottenWords({ positions, left, earlier }), words));
