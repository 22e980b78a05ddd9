import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Window } from '../../src/session/window.js';

/** Times in milliseconds. @param {number} compute @param {number} exchange */
const output = (compute, exchange) => ({ computeUs: 1000 * compute, queueUs: 0, exchangeUs: 1000 * exchange });

test('two are under way until more is known', () => {
  const window = new Window();
  assert.equal(window.size(512), 2);
  window.told(1, output(8, 108));
  assert.equal(window.size(512), 2);
});

test('as many are under way as the round trip is longer than a pass, and four at most', () => {
  for (const [trip, pass, size] of [[10, 100, 2], [100, 100, 2], [150, 100, 3], [250, 100, 4], [9000, 1, 4]]) {
    const window = new Window();
    window.told(512, output(pass, pass + trip));
    assert.equal(window.size(512), size, `${trip} ${pass}`);
  }
});

test('the shortest way that was seen counts, and times that cannot be do no harm', () => {
  const window = new Window();
  window.told(512, output(100, 400));
  assert.equal(window.size(512), 4);
  window.told(1, output(8, 28));
  assert.equal(window.size(512), 2);
  window.told(512, output(100, 50));
  assert.equal(window.size(512), 2);
});
