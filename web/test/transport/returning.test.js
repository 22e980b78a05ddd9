import assert from 'node:assert/strict';
import { test } from 'node:test';
import { NotASplitServer } from '../../src/transport/errors.js';
import { FIRST, LONGEST } from '../../src/transport/returning.js';
import { FRAME, GONE, HANGS, LOST, PING, REFUSED, Script, answerOf, settled } from './fakes.js';

/** A device that had a WebSocket and fell to HTTP while nobody answered. */
async function fallen() {
  const script = new Script({ answers: [undefined, LOST], connects: [undefined, REFUSED, GONE, REFUSED] });
  const channel = script.channel();
  await channel.exchange(FRAME);
  await channel.exchange(FRAME);
  assert.equal(channel.transportName, 'http');
  return { script, channel, fell: script.now };
}

/** One frame a second. @param {any} rig @param {number} seconds @param {() => boolean} done */
async function talk({ script, channel }, seconds, done) {
  for (let i = 0; i < seconds && !done(); i++) {
    await channel.exchange(FRAME);
    script.now += 1;
    await settled();
  }
}

test('who fell to HTTP while nobody answered comes back to a WebSocket within a minute', async () => {
  const rig = await fallen();
  await talk(rig, 60, () => rig.channel.transportName === 'websocket');
  assert.equal(rig.channel.transportName, 'websocket');
  assert.ok(rig.script.now - rig.fell <= FIRST + 3);
  assert.equal(rig.script.sent.filter((sent) => sent.length === PING.length).length, 1);
  assert.deepEqual(await rig.channel.exchange(FRAME), answerOf(FRAME));
  // The connection that it left is closed.
  assert.equal(rig.script.closed, rig.script.transports.length - 1);
});

test('nothing waits for a socket that does not open', async () => {
  const rig = await fallen();
  rig.script.connects = [HANGS];
  await talk(rig, 50, () => false);
  assert.equal(rig.channel.transportName, 'http');
  assert.equal(rig.script.kinds.filter((kind) => kind === 'websocket').length, 4);
  const { transports } = rig.script;
  rig.channel.close();
  await settled();
  assert.ok(transports.every((/** @type {any} */ transport) => !transport.open));
});

test('attempts become rarer, and stay within a minute', async () => {
  const rig = await fallen();
  rig.script.connects = Array(100).fill(REFUSED);
  /** @type {number[]} */
  const tries = [];
  const before = rig.script.kinds.length;
  for (let i = 0; i < 400; i++) {
    const known = rig.script.kinds.length;
    await rig.channel.exchange(FRAME);
    await settled();
    if (rig.script.kinds.length > known) tries.push(rig.script.now);
    rig.script.now += 1;
  }
  assert.ok(rig.script.kinds.slice(before).every((kind) => kind === 'websocket'));
  const gaps = tries.slice(1).map((at, i) => at - tries[i]);
  assert.ok(Math.max(...gaps) <= LONGEST + 1 && gaps[0] < gaps[gaps.length - 1], `${gaps}`);
  assert.equal(rig.channel.transportName, 'http');
});

test('a socket that answers no ping is closed and not taken', async () => {
  const rig = await fallen();
  const carry = rig.script._exchange.bind(rig.script);
  rig.script._exchange = async (transport, frame, signal) => {
    if (transport.name === 'websocket') throw LOST;
    return carry(transport, frame, signal);
  };
  await talk(rig, 15, () => false);
  assert.equal(rig.channel.transportName, 'http');
  const sockets = rig.script.transports.filter(({ name }) => name === 'websocket');
  assert.ok(sockets.length >= 2 && sockets.every(({ open }) => !open));
});

test('a socket that was closed while it waited is not taken', async () => {
  const rig = await fallen();
  const { script, channel } = rig;
  await talk(rig, 60, () => script.transports.at(-1)?.name === 'websocket');
  script.transports.at(-1).open = false;
  await channel.exchange(FRAME);
  assert.equal(channel.transportName, 'http');
});

test('who never had a WebSocket stays on HTTP', async () => {
  const script = new Script({ connects: [REFUSED] });
  const rig = { script, channel: script.channel() };
  await talk(rig, 200, () => false);
  assert.deepEqual(script.kinds, ['websocket', 'http']);
});

test('a status of 500 is a loss once the server has proven itself', async () => {
  const page = new NotASplitServer(500);
  const script = new Script({ answers: [undefined, page, page] });
  const channel = script.channel({ mode: 'http' });
  await channel.exchange(FRAME);
  assert.deepEqual(await channel.exchange(FRAME), answerOf(FRAME));
  assert.equal(channel.reconnects, 1);
});

for (const [first, status] of /** @type {[any[], number][]} */ ([[[], 500], [[undefined], 404]])) {
  test(`a page of status ${status} after ${first.length} answers is no split server`, async () => {
    const script = new Script({ answers: [...first, new NotASplitServer(status)] });
    const channel = script.channel({ mode: 'http' });
    for (const _ of first) await channel.exchange(FRAME);
    await assert.rejects(channel.exchange(FRAME), { code: 'not_a_split_server' });
    assert.deepEqual(script.waits, []);
  });
}
