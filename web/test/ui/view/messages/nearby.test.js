import assert from 'node:assert/strict';
import { test } from 'node:test';
import { holdStill } from '../../../../src/ui/view/messages/nearby.js';

const box = (/** @type {number} */ top, /** @type {number} */ height) =>
  /** @type {any} */ ({ top, height, bottom: top + height });

function moved(/** @type {number} */ top, /** @type {boolean} */ anchors) {
  const list = /** @type {any} */ ({ scrollTop: 500, getBoundingClientRect: () => box(0, 400) });
  const element = /** @type {any} */ ({ getBoundingClientRect: () => box(top, 260) });
  holdStill(element, box(top, 200), list, () => anchors);
  return list.scrollTop - 500;
}

test('what grows above what is read moves the list along', () => {
  assert.equal(moved(-300, false), 60);
});

test('what grows below its upper edge does not', () => {
  assert.equal(moved(-100, false), 0);
  assert.equal(moved(600, false), 0);
});

test('a browser that sees to it by itself is left to it', () => {
  assert.equal(moved(-300, true), 0);
});
