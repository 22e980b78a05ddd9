import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sentenceAt, sentencesOf } from '../../../src/chats/brightness/sentences.js';

/** @param {string} text */
const texts = (text) => sentencesOf(text).map(({ from, to }) => text.slice(from, to));

test('a mark that white space follows ends a sentence, and so does a line', () => {
  assert.deepEqual(texts('One 1.5 (e.g.) two. “Three!” four\n\n five'), ['One 1.5 (e.g.)', 'two.', '“Three!”', 'four', 'five']);
  assert.deepEqual(texts('甲。乙！'), ['甲。', '乙！']);
  assert.deepEqual([texts(''), texts(' \n ')], [[], []]);
});

test('the sentence around a place is found, or the next one', () => {
  const text = 'One.  Two. ';
  const at = (/** @type {number} */ place) => sentenceAt(sentencesOf(text), place);
  assert.deepEqual([at(0), at(4), at(6), at(10)], [{ from: 0, to: 4 }, { from: 6, to: 10 }, { from: 6, to: 10 }, { from: 6, to: 10 }]);
  assert.equal(sentenceAt([], 0), undefined);
});
