import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LONGEST_TITLE, tidyTitle, titleOf } from '../../src/chats/titles.js';

test('a title is the first six words of a message without the marks at its end', () => {
  const message = 'What is split inference?\nTell me more, please.';
  assert.equal(titleOf(message), 'What is split inference? Tell me');
  assert.equal(titleOf('  One,  two.  '), 'One, two');
  assert.equal(titleOf('...'), '');
  assert.equal(titleOf(' \n\t'), '');
});

test('a title has no control characters and none that reorder a list', () => {
  assert.equal(titleOf('a\u202eb\u0007c\u2066d'), 'a b c d');
  assert.equal(tidyTitle('x\u2028y\ud800'), 'x y�');
});

test('a title is never longer than its bound and never ends in half a character', () => {
  assert.equal([...titleOf('👍🏽'.repeat(100))].length, 48);
  assert.equal([...tidyTitle('👍'.repeat(1000))].length, LONGEST_TITLE);
  assert.equal(titleOf('x'.repeat(1e6)).length, 48);
  assert.doesNotMatch(tidyTitle(`${'x'.repeat(199)}👍👍`), /\p{Surrogate}/u);
});
