import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Wakeable, Woken } from '../../src/transport/wakeable.js';

const NEVER = new AbortController().signal;

/** @param {AbortSignal} signal @returns {Promise<never>} */
const endless = (signal) => new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('stopped'))));

test('what runs through is left alone, and so is its failure', async () => {
  const wakeable = new Wakeable(() => 0);
  assert.equal(await wakeable.run(true, NEVER, async () => 7), 7);
  const failing = async () => {
    throw new TypeError('broken');
  };
  await assert.rejects(wakeable.run(false, NEVER, failing), TypeError);
  assert.equal(wakeable.wake(), false);
});

test('a wait is woken at once, an attempt once it is old enough to have slept', async () => {
  let now = 0;
  const wakeable = new Wakeable(() => now);
  const wait = wakeable.run(true, NEVER, endless);
  assert.equal(wakeable.wake(), true);
  await assert.rejects(wait, Woken);
  let ended = false;
  const attempt = wakeable.run(false, NEVER, endless).finally(() => (ended = true));
  assert.equal(wakeable.wake(), true);
  await Promise.resolve();
  assert.equal(ended, false);
  now = 1;
  wakeable.wake();
  await assert.rejects(attempt, Woken);
});

test('a caller that stops is told so, whatever the interrupted one throws', async () => {
  const stop = new AbortController();
  const attempt = new Wakeable(() => 0).run(false, stop.signal, endless);
  stop.abort();
  await assert.rejects(attempt, { code: 'cancelled' });
});
