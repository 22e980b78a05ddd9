import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FRAME, GONE, HANGS, Script, answerOf, settled } from './fakes.js';

test('a connection is made before it is needed, once, and its first frame goes over it', async () => {
  const script = new Script();
  const channel = script.channel();
  await Promise.all([channel.warm(), channel.warm()]);
  await channel.warm();
  assert.deepEqual([script.kinds, script.sent, channel.connected], [['websocket'], [], true]);
  await channel.exchange(FRAME);
  assert.deepEqual(script.kinds, ['websocket']);
});

test('a connection that cannot be made early is made when it is needed, and nobody is told before', async () => {
  const script = new Script({ connects: [GONE] });
  const channel = script.channel();
  await channel.warm();
  assert.deepEqual([channel.connected, script.waits, script.notices], [false, [], []]);
  assert.deepEqual(await channel.exchange(FRAME), answerOf(FRAME));
});

test('waking up ends an early connection that hangs', async () => {
  const script = new Script({ connects: [HANGS] });
  const channel = script.channel();
  const warm = channel.warm();
  await settled();
  script.now += 5;
  channel.wake();
  await warm;
  assert.deepEqual(await channel.exchange(FRAME), answerOf(FRAME));
});

test('a closed channel makes no connection early', async () => {
  const script = new Script();
  const channel = script.channel();
  channel.close();
  await channel.warm();
  assert.deepEqual(script.kinds, []);
});
