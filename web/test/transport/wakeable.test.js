import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Wakeable, Woken } from '../../src/transport/wakeable.js';

const NEVER = new AbortController().signal;
/** A pause without an end. */
const forever = () => new Promise(() => {});

/** @param {AbortSignal} signal @returns {Promise<never>} */
const endless = (signal) => new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('stopped'))));

test('what runs through is left alone, and so is its failure', async () => {
  const wakeable = new Wakeable(() => 0, forever);
  assert.equal(await wakeable.run(true, NEVER, async () => 7), 7);
  const failing = async () => {
    throw new TypeError('broken');
  };
  await assert.rejects(wakeable.run(false, NEVER, failing), TypeError);
  assert.equal(wakeable.wake(), false);
});

test('a wait is woken at once, an attempt once it is old enough to have slept', async () => {
  let now = 0;
  const wakeable = new Wakeable(() => now, forever);
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

test('a young attempt is begun anew if it has no answer soon after the network came back', async () => {
  /** @type {(() => void)[]} */
  const pauses = [];
  const wakeable = new Wakeable(() => 0, () => new Promise((resolve) => pauses.push(resolve)));
  const attempt = wakeable.run(false, NEVER, endless);
  for (let i = 0; i < 5; i++) wakeable.wake();
  assert.equal(pauses.length, 1);
  pauses[0]();
  await assert.rejects(attempt, Woken);
});

test('an attempt that was answered meanwhile is left alone, and so is the next one', async () => {
  /** @type {() => void} */
  let paused = () => {};
  const wakeable = new Wakeable(() => 0, () => new Promise((resolve) => (paused = resolve)));
  /** @type {(value: number) => void} */
  let answer = () => {};
  const first = wakeable.run(false, NEVER, () => new Promise((resolve) => (answer = resolve)));
  wakeable.wake();
  answer(1);
  assert.equal(await first, 1);
  const second = wakeable.run(false, NEVER, () => new Promise((resolve) => (answer = resolve)));
  paused();
  await Promise.resolve();
  answer(2);
  assert.equal(await second, 2);
});

test('a caller that stops is told so, whatever the interrupted one throws', async () => {
  const stop = new AbortController();
  const attempt = new Wakeable(() => 0, forever).run(false, stop.signal, endless);
  stop.abort();
  await assert.rejects(attempt, { code: 'cancelled' });
});
