import assert from 'node:assert/strict';
import { test } from 'node:test';
import { aligned, shownParts, sourcePlace } from '../../../../src/ui/view/tint/alignment.js';

/** What of the source each text was found to be. @param {string} source @param {string[]} texts */
const found = (source, texts) =>
  aligned(source, texts).map(({ at, length, text, offset }) => {
    assert.equal(source.slice(at, at + length), texts[text].slice(offset, offset + length));
    return source.slice(at, at + length);
  });

test('a text without marks is all of itself', () => {
  assert.deepEqual(aligned('One two.', ['One two.']), [{ at: 0, length: 8, text: 0, offset: 0 }]);
});

test('marks of markdown belong to no text', () => {
  const source = '# Head\n\nA **bold** and *soft* `code`.\n\n- one\n- two';
  const texts = ['Head', 'A ', 'bold', ' and ', 'soft', ' ', 'code', '.', 'one', 'two'];
  // White space behind a mark is left out: it is seen by nobody.
  assert.deepEqual(found(source, texts), texts.filter((text) => text !== ' '));
});

test('the address of a link is not its text', () => {
  const source = 'See [the page](https://a.example/the) the rest';
  assert.deepEqual(aligned(source, ['See ', 'the page', ' the rest']).map(({ at }) => at), [0, 5, 37]);
});

test('what the page shows in other words is found word by word, or not at all', () => {
  assert.deepEqual(found('a &amp; b\nc', ['a & b c']), ['a', '&', 'b', 'c']);
  assert.deepEqual(found('text', ['Done:', 'text']), ['text']);
});

test('a short text is not looked for far away', () => {
  const source = `one ${'x'.repeat(200)} 7 two words more`;
  assert.deepEqual(found(source, ['one', '7', 'two words more']), ['one', 'two words more']);
});

test('a part of the source may be shown in several texts, or in none', () => {
  const runs = aligned('**ab**cd$x$ef', ['ab', 'cd', 'ef']);
  assert.deepEqual(shownParts(runs, 3, 8), [{ text: 0, from: 1, to: 2 }, { text: 1, from: 0, to: 2 }]);
  assert.deepEqual(shownParts(runs, 8, 11), []);
  assert.deepEqual([sourcePlace(runs, 1, 1), sourcePlace(runs, 2, 0), sourcePlace(runs, 2, 5)], [7, 11, -1]);
});

test('hostile sources take no longer for it', () => {
  const source = '](('.repeat(20_000);
  const began = performance.now();
  aligned(source, Array(2000).fill('](('));
  assert.ok(performance.now() - began < 1000);
});
