import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Speed } from '../../../src/ui/words/speed.js';

test('a steady download has its speed', () => {
  const speed = new Speed();
  for (let at = 0; at <= 4000; at += 50) speed.add(at * 1000, at);
  assert.equal(speed.perSecond(), 1_000_000);
});

test('what is long past does not count', () => {
  const speed = new Speed();
  for (let at = 0; at <= 10_000; at += 200) speed.add(at * 1000, at);
  for (let at = 10_200; at <= 30_000; at += 200) speed.add(10_000_000 + (at - 10_000) * 10, at);
  assert.ok(Math.abs(/** @type {number} */ (speed.perSecond()) - 10_000) < 100);
});

test('before there is anything to measure, nothing is said', () => {
  const speed = new Speed();
  assert.equal(speed.perSecond(), null);
  speed.add(0, 0);
  speed.add(1000, 200);
  assert.equal(speed.perSecond(), null);
});

test('a burst counts to its last byte', () => {
  const speed = new Speed();
  speed.add(0, 0);
  for (let at = 10; at <= 100; at += 10) speed.add(at * 1000, at);
  assert.equal(speed.perSecond(1000), 100_000);
});

test('where nothing comes any more the speed falls, and then nothing is said', () => {
  const speed = new Speed();
  for (let at = 0; at <= 4000; at += 200) speed.add(at * 1000, at);
  assert.equal(speed.perSecond(8000), 500_000);
  assert.equal(speed.perSecond(20_000), null);
});
