import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fit } from '../../../src/ui/view/fit.js';

/** A field whose text takes `lines` of 20 pixels, with a border of one. @param {number} lines */
function field(lines) {
  /** @type {string[]} */
  const heights = [];
  const style = { set height(/** @type {string} */ value) { heights.push(value); } };
  const element = { style, scrollHeight: 20 * lines, clientHeight: 20, offsetHeight: 22 };
  return { heights, element: /** @type {any} */ (element) };
}

test('a field gets the height of its text and its borders, measured anew', () => {
  const { heights, element } = field(3);
  fit(element, () => false);
  assert.deepEqual(heights, ['auto', '62px']);
});

test('where the style sheet does it, no height is set', () => {
  const { heights, element } = field(3);
  fit(element, () => true);
  fit(null, () => false);
  assert.deepEqual(heights, []);
});
