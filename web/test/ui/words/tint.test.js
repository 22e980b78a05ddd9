import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fadedInWords } from '../../../src/ui/words/tint.js';

test('so much of a chat has faded, and never none of it', () => {
  assert.equal(fadedInWords([1, 0, 0, 0]), 'Nothing has faded yet');
  assert.equal(fadedInWords([0.75, 0.125, 0.125, 0]), '25.0% of the chat has faded');
  assert.equal(fadedInWords([0.9997, 0.0003, 0, 0]), '<0.1% of the chat has faded');
  assert.equal(fadedInWords([0.9995, 0.0005, 0, 0]), '0.1% of the chat has faded');
});
