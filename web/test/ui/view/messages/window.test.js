import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MOST, around, earlier, later, newest, within } from '../../../../src/ui/view/messages/window.js';

const COUNTS = [0, 1, MOST, MOST + 1, 1000, 16_000];

test('a chat that the page can lay out stands in it whole', () => {
  for (const count of [0, 1, MOST]) assert.deepEqual(within(newest(count), count), { from: 0, to: count });
});

test('of a longer one the newest stand there, and some at a time leave as others come', () => {
  const firsts = new Set();
  for (let count = 2000; count < 2600; count += 1) {
    const { from, to } = within(newest(count), count);
    assert.ok(to === count && to - from <= MOST && to - from >= MOST / 2);
    firsts.add(from);
  }
  assert.ok(firsts.size <= 3);
});

test('from the end every message is reached, and from the beginning the end again', () => {
  for (const count of COUNTS) {
    let shown = newest(count);
    const seen = new Set();
    for (let left = 200; left && shown.from; left -= 1) shown = earlier(shown, count);
    for (let left = 200; left; left -= 1) {
      const { from, to } = within(shown, count);
      for (let at = from; at < to; at += 1) seen.add(at);
      if (to === count) break;
      shown = later({ from, to }, count);
    }
    assert.equal(seen.size, count);
    // What comes then is shown as well.
    assert.equal(within(shown, count + 1).to, count + 1);
  }
});

test('a message that is gone to stands in the page, with others before and behind it', () => {
  for (const count of COUNTS) {
    for (const at of [0, 1, count >> 1, count - 1].filter((each) => each >= 0 && each < count)) {
      const { from, to } = within(around(at, count), count);
      assert.ok(Number.isInteger(from) && from <= at && at < to && to <= count && to - from <= MOST);
      assert.ok(at - from >= Math.min(at, 100) && to - at >= Math.min(count - at, 100));
    }
  }
});

test('a chat that has become shorter is shown as far as it goes, and one that grows within its bounds', () => {
  assert.deepEqual(within({ from: 10, to: 20 }, 30), { from: 10, to: 20 });
  assert.deepEqual(within({ from: 10, to: 20 }, 15), { from: 10, to: 15 });
  assert.deepEqual(within({ from: 10, to: 20 }, 5), { from: 0, to: 5 });
  assert.deepEqual(within({ from: 10, to: Infinity }, 5000), { from: 4100, to: 5000 });
});
