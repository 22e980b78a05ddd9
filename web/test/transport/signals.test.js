import assert from 'node:assert/strict';
import { test } from 'node:test';
import { linked } from '../../src/transport/signals.js';

test('a linked signal ends with the first of its reasons and then lets go of them', () => {
  const reasons = [new AbortController(), new AbortController()];
  const first = linked(reasons.map(({ signal }) => signal));
  assert.equal(first.signal.aborted, false);
  reasons[1].abort();
  assert.equal(first.signal.aborted, true);
  assert.equal(linked([reasons[1].signal]).signal.aborted, true);
  const released = linked([reasons[0].signal]);
  released.release();
  reasons[0].abort();
  assert.equal(released.signal.aborted, false);
});
