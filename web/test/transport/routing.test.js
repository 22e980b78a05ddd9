import assert from 'node:assert/strict';
import { test } from 'node:test';
import { connector } from '../../src/transport/connect.js';
import { Route } from '../../src/transport/routing.js';
import { WebSocketTransport } from '../../src/transport/websocket.js';
import { FRAME, FakeSocket, PING, PONG, Script, answerOf } from './fakes.js';

const HOW = { timeout: 5, signal: new AbortController().signal };

test('a routing id goes with frames as it is when a connection is made', async (context) => {
  /** @type {string[]} */
  const posted = [];
  context.mock.method(globalThis, 'fetch', async (/** @type {string} */ url) => {
    posted.push(url);
    return new Response(/** @type {Uint8Array<ArrayBuffer>} */ (PONG));
  });
  const route = new Route('first');
  const connect = connector('http://server/below', null, 1000, route);
  const transport = await connect('http', HOW);
  route.change('second');
  await transport.exchange(PING, HOW);
  await connect('http', HOW);
  const forward = 'http://server/below/api/v1/split/forward';
  assert.deepEqual(posted, [`${forward}?s=first`, `${forward}?s=first`, `${forward}?s=second`]);
});

test('a routing id goes with the address of a WebSocket', async () => {
  /** @type {FakeSocket[]} */
  const made = [];
  const make = (/** @type {string} */ url, /** @type {string[]} */ protocols) => {
    made.push(new FakeSocket(url, protocols));
    return /** @type {any} */ (made[0]);
  };
  const opening = WebSocketTransport.open({ url: 'https://server', token: null, maxFrame: 9, ...HOW, route: new Route('id'), make });
  made[0].opens();
  await opening;
  assert.equal(made[0].url, 'wss://server/api/v1/split/stream?s=id');
});

test('a way is free for a holder whose neighbours have no session at its end', () => {
  const route = new Route();
  const [one, other] = [{ opened: {} }, { opened: /** @type {object | null} */ (null) }];
  route.carries(one);
  route.carries(other);
  assert.ok(route.isFree(one));
  assert.ok(!route.isFree(other));
  other.opened = {};
  assert.ok(!route.isFree(one));
});

test('another way is gone over a new connection', async () => {
  const route = new Route('first');
  const script = new Script();
  const channel = script.channel({ route });
  const [one, other] = [{ opened: null }, { opened: {} }];
  await channel.exchange(FRAME);
  assert.ok(channel.move(one));
  assert.notEqual(route.id, 'first');
  assert.deepEqual([channel.transportName, script.closed], [null, 1]);
  assert.deepEqual(await channel.exchange(FRAME), answerOf(FRAME));
  route.carries(other);
  const { id } = route;
  assert.ok(!channel.move(one));
  assert.equal(route.id, id);
  channel.reroute('third');
  assert.equal(route.id, 'third');
  assert.equal(script.closed, 2);
});

test('a channel without a routing id has one way', async () => {
  const channel = new Script().channel();
  await channel.exchange(FRAME);
  assert.ok(!channel.move({ opened: null }));
  channel.reroute('id');
  assert.equal(channel.transportName, 'websocket');
});
