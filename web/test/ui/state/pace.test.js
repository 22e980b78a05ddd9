import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Pace } from '../../../src/ui/state/pace.js';

test('the first token gives the time to it, later ones the rate without it', () => {
  const pace = new Pace(1000);
  pace.token(1400);
  assert.deepEqual([pace.ttft, pace.perSecond()], [0.4, null]);
  for (let at = 1450; at <= 2400; at += 50) pace.token(at);
  assert.equal(Math.round(/** @type {number} */ (pace.perSecond())), 20);
});

test('the shown rate changes twice a second at most', () => {
  const pace = new Pace(0);
  const shown = new Set();
  for (let at = 10, step = 5; at < 2000; at += step, step += 1) {
    pace.token(at);
    shown.add(pace.perSecond());
  }
  assert.ok(shown.size <= 6, `${shown.size}`);
});
