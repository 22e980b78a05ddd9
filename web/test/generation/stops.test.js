import assert from 'node:assert/strict';
import { test } from 'node:test';
import { StopFilter } from '../../src/generation/stops.js';
import { randomNumbers } from './random.js';

test('text ends before the stop, wherever the pieces are cut', () => {
  const random = randomNumbers(1);
  const alphabet = ['a', 'b', '😀', '😁', '\n'];
  for (let round = 0; round < 500; round++) {
    const pieces = (/** @type {number} */ length) =>
      Array.from({ length }, () => alphabet[Math.floor(random() * alphabet.length)]);
    const text = pieces(20);
    const stops = [pieces(2).join(''), pieces(3).join('')];
    const filter = new StopFilter(stops);
    const shown = text.map((piece) => filter.push(piece));
    const all = shown.join('') + filter.flush();
    const whole = text.join('');
    const ends = stops.map((stop) => whole.indexOf(stop)).filter((at) => at >= 0);
    const end = Math.min(whole.length, ...ends);
    assert.equal(all, whole.slice(0, end));
    assert.equal(filter.stopped, end < whole.length);
    for (const piece of shown) assert.ok(!/[\ud800-\udbff]$|^[\udc00-\udfff]/.test(piece));
  }
});

test('only what may begin a stop is held back', () => {
  const filter = new StopFilter(['</s>', 'END']);
  const shown = ['a<', '/', 'x', 'EN', 'D', 'more'].map((text) => filter.push(text));
  assert.deepEqual(shown, ['a', '', '</x', '', '', '']);
  assert.equal(filter.stopped, true);
  assert.equal(filter.flush(), '');
});

test('what was held back comes at the end, and empty stops do not count', () => {
  const filter = new StopFilter(['', 'END']);
  assert.equal(filter.push('xEN'), 'x');
  assert.equal(filter.flush(), 'EN');
  assert.equal(filter.stopped, false);
});
