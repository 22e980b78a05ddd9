import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Follow } from '../../../src/ui/view/follow.js';

const at = (/** @type {number} */ scrollTop, scrollHeight = 1000) => {
  return { scrollTop, scrollHeight, clientHeight: 400 };
};

test('a list that grows is followed', () => {
  const follow = new Follow();
  assert.equal(follow.scrolled(at(600)), true);
  assert.equal(follow.scrolled(at(600, 1400)), true);
});

test('a reader who scrolls up is left alone while the list grows', () => {
  const follow = new Follow();
  follow.scrolled(at(600));
  assert.equal(follow.scrolled(at(550)), false);
  assert.equal(follow.scrolled(at(550, 2000)), false);
});

test('at the end, or asked for it, the list is followed again', () => {
  const follow = new Follow();
  follow.scrolled(at(600));
  follow.scrolled(at(300));
  assert.equal(follow.scrolled(at(590)), true);
  follow.scrolled(at(300));
  follow.toEnd();
  assert.equal(follow.following, true);
});
