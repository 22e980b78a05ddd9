import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Endurance } from '../../src/transport/endurance.js';

test('patience counts from the first loss and begins anew for the next exchange', () => {
  let now = 100;
  const endurance = new Endurance(10, () => now);
  assert.equal(endurance.allows(10), true);
  now += 6;
  assert.deepEqual([endurance.allows(4), endurance.allows(4.1)], [true, false]);
  endurance.renew();
  assert.equal(endurance.allows(10), true);
});

test('sleep is not counted', () => {
  let now = 0;
  const endurance = new Endurance(10, () => now);
  endurance.allows(0);
  now = 15;
  assert.equal(endurance.slept(0, 5), false);
  assert.equal(endurance.allows(0), false);
  now = 16;
  assert.equal(endurance.slept(0, 5), true);
  assert.equal(endurance.allows(10), true);
});
