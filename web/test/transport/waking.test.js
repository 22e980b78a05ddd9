import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FRAME, GONE, HANGS, LOST, OTHER, PING, Script, answerOf, settled } from './fakes.js';

/** A pause that only `wake` or a signal ends. @param {number} _ @param {AbortSignal} signal */
function endless(_, signal) {
  return new Promise((__, reject) => {
    signal.addEventListener('abort', () => reject(new Error('woken')), { once: true });
  });
}

test('a device that slept through its patience has it anew when it wakes up', async () => {
  const script = new Script({ connects: Array(9).fill(GONE) });
  const channel = script.channel({
    mode: 'http',
    pause: async (/** @type {number} */ seconds) => {
      script.waits.push(seconds);
      script.now += script.waits.length === 5 ? 3600 : seconds;
    },
  });
  assert.deepEqual(await channel.exchange(FRAME), answerOf(FRAME));
  assert.deepEqual(script.waits.slice(3, 8), [0.8, 1.6, 0.1, 0.2, 0.4]);
  const asleep = new Script({ connects: Array(9).fill(GONE) });
  const connect = asleep._connect.bind(asleep);
  asleep._connect = (kind, how) => {
    asleep.now += asleep.kinds.length === 4 ? 3600 : 0;
    return connect(kind, how);
  };
  assert.deepEqual(await asleep.channel({ mode: 'http' }).exchange(FRAME), answerOf(FRAME));
});

test('waking up ends a wait at once and begins patience anew', async () => {
  const script = new Script({ connects: [GONE, GONE, GONE] });
  const channel = script.channel({ mode: 'http', pause: endless });
  const answer = channel.exchange(FRAME);
  for (let i = 0; i < 3; i++) {
    await settled();
    assert.equal(script.kinds.length, i + 1);
    script.now += 100;
    channel.wake();
  }
  assert.deepEqual(await answer, answerOf(FRAME));
});

test('waking up replaces a connection whose answer is outstanding, with the same bytes', async () => {
  const script = new Script({ answers: [HANGS] });
  const channel = script.channel();
  const answer = channel.exchange(FRAME);
  await settled();
  script.now += 5;
  channel.wake();
  assert.deepEqual(await answer, answerOf(FRAME));
  assert.deepEqual(script.sent, [FRAME, FRAME]);
  assert.deepEqual([script.closed, script.waits], [1, []]);
});

test('waking up again and again does not restart an attempt that has just begun', async () => {
  const script = new Script({ answers: [HANGS] });
  const channel = script.channel({ pause: endless });
  const answer = channel.exchange(FRAME);
  await settled();
  for (let i = 0; i < 9; i++) channel.wake();
  await settled();
  assert.deepEqual(script.sent, [FRAME]);
  script.now += 2;
  channel.wake();
  assert.deepEqual(await answer, answerOf(FRAME));
});

test('waking up restarts a connection attempt that hangs', async () => {
  const script = new Script({ connects: [HANGS] });
  const channel = script.channel();
  const answer = channel.exchange(FRAME);
  await settled();
  script.now += 2;
  channel.wake();
  assert.deepEqual(await answer, answerOf(FRAME));
  assert.deepEqual(script.kinds, ['websocket', 'websocket']);
});

test('waking up asks an idle socket for a sign of life and drops one that gives none', async () => {
  const script = new Script({ answers: [undefined, undefined, undefined, LOST] });
  const channel = script.channel();
  await channel.exchange(FRAME);
  channel.wake();
  channel.wake();
  await channel.exchange(OTHER);
  assert.deepEqual(script.sent, [FRAME, PING, OTHER]);
  assert.equal(script.most, 1);
  channel.wake();
  await settled();
  assert.equal(channel.transportName, null);
  await channel.exchange(OTHER);
  assert.deepEqual(script.kinds, ['websocket', 'websocket']);
  assert.deepEqual(channel.traffic.exchanges, 3);
});

test('waking up does nothing before the first exchange, to HTTP, and after closing', async () => {
  const script = new Script();
  const channel = script.channel({ mode: 'http' });
  channel.wake();
  await channel.exchange(FRAME);
  channel.wake();
  channel.close();
  channel.wake();
  await settled();
  assert.deepEqual([script.kinds, script.sent], [['http'], [FRAME]]);
});
