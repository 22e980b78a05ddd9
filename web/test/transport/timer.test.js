import assert from 'node:assert/strict';
import { test } from 'node:test';
import { after, pause } from '../../src/transport/timer.js';

test('a pause ends by its time or by its signal, whichever is first', async (context) => {
  context.mock.timers.enable({ apis: ['setTimeout'] });
  const stop = new AbortController();
  const ended = pause(5, stop.signal);
  context.mock.timers.tick(5000);
  await ended;
  const stopped = pause(5, stop.signal);
  stop.abort();
  await assert.rejects(stopped, { code: 'cancelled' });
  await assert.rejects(pause(5, stop.signal), { code: 'cancelled' });
});

test('a timer that was called off does not run', (context) => {
  context.mock.timers.enable({ apis: ['setTimeout'] });
  let runs = 0;
  const callOff = after(1, () => (runs += 1));
  after(2, () => (runs += 10));
  callOff();
  context.mock.timers.tick(3000);
  assert.equal(runs, 10);
});
