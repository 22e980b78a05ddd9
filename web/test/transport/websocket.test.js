import assert from 'node:assert/strict';
import { test } from 'node:test';
import { WebSocketTransport } from '../../src/transport/websocket.js';
import { FakeSocket, FakeTime, PING, PONG, settled } from './fakes.js';

const NEVER = new AbortController().signal;
const HOW = { timeout: 5, signal: NEVER };

/** @param {any} [options] */
function opening(options = {}) {
  const time = new FakeTime();
  /** @type {FakeSocket[]} */
  const made = [];
  const transport = WebSocketTransport.open({
    url: 'https://server:8000/',
    token: null,
    maxFrame: 100,
    timeout: 4,
    signal: NEVER,
    after: time.after,
    make: (url, protocols) => {
      made.push(new FakeSocket(url, protocols));
      return /** @type {any} */ (made[0]);
    },
    ...options,
  });
  return { time, transport, socket: made[0] };
}

/** @param {any} [options] */
async function opened(options) {
  const { time, transport, socket } = opening(options);
  socket.opens();
  return { time, transport: await transport, socket };
}

test('it asks for split.v1 at the secure address and sends the token as a subprotocol', async () => {
  const { socket } = await opened({ token: 'a>b?c~' });
  assert.equal(socket.url, 'wss://server:8000/api/v1/split/stream');
  assert.deepEqual(socket.protocols, ['split.v1', 'split.bearer.YT5iP2N-']);
  assert.equal(socket.binaryType, 'arraybuffer');
  const open = await opened({ url: 'http://server' });
  assert.equal(open.socket.url, 'ws://server/api/v1/split/stream');
  assert.deepEqual(open.socket.protocols, ['split.v1']);
});

test('a frame is answered by the next message', async () => {
  const { transport, socket, time } = await opened();
  const answer = transport.exchange(PING, HOW);
  assert.deepEqual(socket.sent, [PING]);
  socket.receives(PONG);
  assert.deepEqual(await answer, PONG);
  assert.equal(time.pending, 0);
});

test('several frames are under way, and answers that come early wait for whoever asks', async () => {
  const { transport, socket } = await opened();
  transport.send(PING);
  transport.send(Uint8Array.of(2));
  assert.deepEqual(socket.sent, [PING, Uint8Array.of(2)]);
  socket.receives(PONG);
  socket.receives(Uint8Array.of(8));
  assert.deepEqual([await transport.receive(HOW), await transport.receive(HOW)], [PONG, Uint8Array.of(8)]);
});

test('answers that come together are all there', async () => {
  const { transport, socket } = await opened();
  transport.send(PING);
  transport.send(PING);
  const first = transport.receive(HOW);
  socket.receives(PONG);
  socket.receives(Uint8Array.of(8));
  assert.deepEqual([await first, await transport.receive(HOW)], [PONG, Uint8Array.of(8)]);
});

test('an answer that came before the connection ended is still there', async () => {
  const { transport, socket } = await opened();
  transport.send(PING);
  transport.send(PING);
  socket.receives(PONG);
  socket.ends(1006);
  assert.deepEqual(await transport.receive(HOW), PONG);
  await assert.rejects(transport.receive(HOW), { code: 'connection_lost' });
  assert.throws(() => transport.send(PING), { code: 'connection_lost' });
});

test('answers that are forgone are nobody\'s, whether they came already or not', async () => {
  const { transport, socket } = await opened();
  transport.send(PING);
  transport.send(PING);
  socket.receives(Uint8Array.of(1));
  transport.forgo(2);
  socket.receives(Uint8Array.of(2));
  const answer = transport.exchange(PING, HOW);
  socket.receives(PONG);
  assert.deepEqual(await answer, PONG);
});

test('more answers than frames are not kept', async () => {
  const { transport, socket } = await opened();
  transport.send(PING);
  for (let i = 0; i < 9; i++) socket.receives(Uint8Array.of(i));
  assert.deepEqual(await transport.receive(HOW), Uint8Array.of(0));
  const answer = transport.exchange(PING, HOW);
  socket.receives(PONG);
  assert.deepEqual(await answer, PONG);
});

test('a message that nobody waits for is not taken for the next answer', async () => {
  const { transport, socket } = await opened();
  socket.receives(Uint8Array.of(1));
  const answer = transport.exchange(PING, HOW);
  socket.receives(PONG);
  assert.deepEqual(await answer, PONG);
});

for (const [what, close] of /** @type {const} */ ([
  ['an error', (/** @type {FakeSocket} */ socket) => socket.onerror({})],
  ['a close', (/** @type {FakeSocket} */ socket) => socket.onclose({ code: 1006, reason: '' })],
  ['another protocol', (/** @type {FakeSocket} */ socket) => socket.opens('')],
])) {
  test(`a handshake that ends with ${what} leaves HTTP to be tried`, async () => {
    const { transport, socket, time } = opening();
    close(socket);
    await assert.rejects(transport, { code: 'upgrade_refused' });
    assert.deepEqual([socket.closes, time.pending], [[1000], 0]);
  });
}

test('a handshake without an answer gives up in time', async () => {
  const { transport, socket, time } = opening();
  const refused = assert.rejects(transport, { code: 'upgrade_refused' });
  await time.pass(4);
  await refused;
  assert.deepEqual(socket.closes, [1000]);
});

test('a browser that refuses to make a socket leaves HTTP to be tried', async () => {
  const make = () => {
    throw new Error('a policy');
  };
  const transport = WebSocketTransport.open({
    url: 'http://server', token: null, maxFrame: 1, timeout: 1, signal: NEVER, make,
  });
  await assert.rejects(transport, { code: 'upgrade_refused' });
});

test('a handshake can be aborted, also before it begins', async () => {
  const stop = new AbortController();
  const { transport, socket } = opening({ signal: stop.signal });
  stop.abort();
  await assert.rejects(transport, { code: 'cancelled' });
  assert.deepEqual(socket.closes, [1000]);
  await assert.rejects(opening({ signal: stop.signal }).transport, { code: 'cancelled' });
});

for (const [close, reason, code] of /** @type {const} */ ([
  [1009, '', 'frame_too_large'],
  [1008, 'revoked', 'device_revoked'],
  [1008, 'unauthorized', 'unauthorized'],
  [1008, 'Not a code!', 'policy_violation'],
  [1006, '', 'connection_lost'],
  [1012, 'shutting down', 'connection_lost'],
])) {
  test(`a close with ${close} ${reason} is ${code}`, async () => {
    const { transport, socket } = await opened();
    const answer = transport.exchange(PING, HOW);
    socket.ends(close, reason);
    await assert.rejects(answer, { code });
    assert.equal(transport.open, false);
    await assert.rejects(transport.exchange(PING, HOW), { code });
  });
}

test('an answer above the limit is refused, and the limit can be raised', async () => {
  const { transport, socket } = await opened();
  const refused = transport.exchange(PING, HOW);
  socket.receives(new Uint8Array(101));
  await assert.rejects(refused, { code: 'answer_too_large' });
  assert.deepEqual(socket.closes, [1000]);
  const again = await opened();
  again.transport.accept(101);
  const answer = again.transport.exchange(PING, HOW);
  again.socket.receives(new Uint8Array(101));
  assert.equal((await answer).length, 101);
});

test('text ends the connection', async () => {
  const { transport, socket } = await opened();
  const answer = transport.exchange(PING, HOW);
  socket.receives('{}');
  await assert.rejects(answer, { code: 'connection_lost' });
  assert.deepEqual(socket.closes, [1000]);
});

test('an exchange can be aborted; the answer that comes later reaches nobody', async () => {
  const { transport, socket, time } = await opened();
  const stop = new AbortController();
  const answer = transport.exchange(PING, { timeout: 5, signal: stop.signal });
  stop.abort();
  await assert.rejects(answer, { code: 'cancelled' });
  socket.receives(PONG);
  assert.equal(time.pending, 0);
  const sent = socket.sent.length;
  await assert.rejects(transport.exchange(PING, { timeout: 5, signal: stop.signal }), { code: 'cancelled' });
  assert.equal(socket.sent.length, sent);
});

test('silence is told after the timeout', async () => {
  const { transport, time } = await opened();
  const late = assert.rejects(transport.exchange(PING, HOW), { name: 'AppError', code: 'connection_lost' });
  await time.pass(5);
  await late;
});

test('a long frame may take its time as long as some of it leaves', async () => {
  const { transport, socket, time } = await opened();
  const answer = transport.exchange(PING, HOW);
  for (const left of [300, 200, 100]) {
    socket.bufferedAmount = left;
    await time.pass(5);
  }
  socket.bufferedAmount = 0;
  socket.receives(PONG);
  assert.deepEqual(await answer, PONG);
});

test('a frame of which nothing leaves any more is late, as is one that trickles', async () => {
  const stuck = await opened();
  stuck.socket.bufferedAmount = 300;
  const late = assert.rejects(stuck.transport.exchange(PING, HOW), { code: 'connection_lost' });
  await stuck.time.pass(10);
  await late;
  const slow = await opened();
  const given = assert.rejects(slow.transport.exchange(PING, HOW), { code: 'connection_lost' });
  for (let i = 0; i < 10; i++) {
    slow.socket.bufferedAmount = 300 - i;
    await slow.time.pass(5);
  }
  await given;
});

test('closing says goodbye and ends what waits', async () => {
  const { transport, socket } = await opened();
  const answer = transport.exchange(PING, HOW);
  transport.close();
  await assert.rejects(answer, { code: 'connection_lost' });
  await settled();
  assert.deepEqual(socket.closes, [1000]);
  assert.equal(socket.onmessage, null);
});
