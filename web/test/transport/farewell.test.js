import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FRAME, HANGS, LOST, OTHER, Script, answerOf, settled } from './fakes.js';

test('a farewell is sent only over a connection that there is, and nobody waits for its answer', async () => {
  const script = new Script({ answers: [undefined, HANGS] });
  const channel = script.channel({ mode: 'http' });
  await channel.farewell(OTHER, 1);
  assert.deepEqual(script.kinds, []);
  await channel.exchange(FRAME);
  await channel.farewell(OTHER, 1);
  assert.deepEqual([script.sent, script.under_way], [[FRAME, OTHER], 1]);
  assert.deepEqual(await channel.exchange(FRAME), answerOf(FRAME));
});

test('the loss of a farewell is nobody\'s', async () => {
  const script = new Script({ answers: [undefined, LOST] });
  const channel = script.channel({ mode: 'http' });
  await channel.exchange(FRAME);
  await channel.farewell(OTHER, 1);
  await settled();
  assert.equal(channel.transportName, 'http');
});

test('the answer to a farewell over a socket is not taken for the next one\'s', async () => {
  const script = new Script();
  const channel = script.channel();
  await channel.exchange(FRAME);
  const done = /** @type {any[]} */ ([]);
  const [transport] = script.transports;
  Object.assign(transport, {
    send: (/** @type {Uint8Array} */ frame) => done.push(['send', frame]),
    forgo: (/** @type {number} */ count) => done.push(['forgo', count]),
  });
  await channel.farewell(OTHER, 1);
  assert.deepEqual(done, [['send', OTHER], ['forgo', 1]]);
});

test('a farewell that finds no turn leaves the connection of the others alone', async () => {
  const script = new Script({ answers: [undefined, HANGS] });
  const channel = script.channel();
  await channel.exchange(FRAME);
  const waiting = Array.from({ length: 65 }, () => channel.exchange(OTHER));
  await settled();
  await channel.farewell(FRAME, 1);
  assert.equal(channel.transportName, 'websocket');
  channel.close();
  await Promise.allSettled(waiting);
});
