import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AnswerLate, DeviceRevoked, ServerRefused } from '../../src/transport/errors.js';
import { FRAME, GONE, HANGS, LOST, OTHER, REFUSED, Script, answerOf, settled } from './fakes.js';

test('one connection carries many exchanges, and they are counted', async () => {
  const script = new Script();
  const channel = script.channel();
  assert.equal(channel.transportName, null);
  assert.deepEqual(await channel.exchange(FRAME), answerOf(FRAME));
  assert.deepEqual(await channel.exchange(OTHER), answerOf(OTHER));
  assert.deepEqual(script.kinds, ['websocket']);
  assert.equal(channel.transportName, 'websocket');
  assert.deepEqual(channel.traffic, { sent: 4, received: 6, exchanges: 2 });
  assert.equal(channel.reconnects, 0);
});

test('frames of several callers go one after the other', async () => {
  const script = new Script();
  const channel = script.channel();
  const frames = Array.from({ length: 9 }, (_, i) => Uint8Array.of(i));
  const answers = await Promise.all(frames.map((frame) => channel.exchange(frame)));
  assert.deepEqual(answers, frames.map(answerOf));
  assert.deepEqual(script.sent, frames);
  assert.equal(script.most, 1);
});

test('more callers than the app has are turned away', async () => {
  const channel = new Script({ answers: [HANGS] }).channel();
  const waiting = Array.from({ length: 65 }, () => channel.exchange(FRAME));
  await assert.rejects(channel.exchange(FRAME), { code: 'channel_busy' });
  channel.close();
  for (const each of waiting) await assert.rejects(each, { code: 'cancelled' });
});

test('a lost frame is sent again byte by byte over a new connection, without a word', async () => {
  const script = new Script({ answers: [LOST] });
  const channel = script.channel();
  assert.deepEqual(await channel.exchange(FRAME), answerOf(FRAME));
  assert.deepEqual(script.sent, [FRAME, FRAME]);
  assert.deepEqual(script.kinds, ['websocket', 'websocket']);
  assert.equal(script.closed, 1);
  assert.equal(channel.reconnects, 1);
  assert.deepEqual(script.notices, []);
});

test('a connection that was closed while it idled is replaced at once', async () => {
  const script = new Script();
  const channel = script.channel();
  await channel.exchange(FRAME);
  script.transports[0].open = false;
  await channel.exchange(OTHER);
  assert.deepEqual([script.sent, script.waits], [[FRAME, OTHER], []]);
});

test('reconnecting is told from the second attempt on, and that it worked', async () => {
  const script = new Script({ answers: [LOST], connects: [undefined, GONE, GONE] });
  const channel = script.channel({ mode: 'http' });
  await channel.exchange(FRAME);
  assert.deepEqual(script.notices, [
    { type: 'reconnecting', reason: 'nobody', attempt: 1, delay: 0.2 },
    { type: 'reconnecting', reason: 'nobody', attempt: 2, delay: 0.4 },
    { type: 'reconnected' },
  ]);
  assert.equal(channel.reconnects, 1);
});

test('delays double up to a limit and the whole is bounded', async () => {
  const script = new Script({ connects: Array(1000).fill(GONE) });
  await assert.rejects(script.channel({ mode: 'http' }).exchange(FRAME), { code: 'server_unreachable' });
  assert.deepEqual(script.waits.slice(0, 8), [0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 5, 5]);
  assert.ok(script.now <= 120 && script.now > 110);
});

test('a first attempt that failed slowly is told', async () => {
  const script = new Script({ connects: [GONE] });
  const connect = script._connect.bind(script);
  script._connect = (kind, how) => {
    script.now += 3;
    return connect(kind, how);
  };
  await script.channel({ mode: 'http' }).exchange(FRAME);
  assert.deepEqual(script.notices.map(({ type }) => type), ['reconnecting', 'reconnected']);
});

test('half of a delay is random', async () => {
  const script = new Script({ connects: [GONE] });
  await script.channel({ mode: 'http', chance: () => 0 }).exchange(FRAME);
  assert.deepEqual(script.waits, [0.05]);
});

test('patience begins anew with each exchange', async () => {
  const script = new Script({ connects: [...Array(20).fill(GONE), undefined, ...Array(20).fill(GONE)] });
  const channel = script.channel({ mode: 'http' });
  await channel.exchange(FRAME);
  script.transports[0].open = false;
  await channel.exchange(FRAME);
  assert.ok(script.now > 120);
});

test('what the server refuses is told at once and closes the connection', async () => {
  const script = new Script({ answers: [new ServerRefused('unauthorized', 'no')] });
  const channel = script.channel();
  await assert.rejects(channel.exchange(FRAME), { code: 'unauthorized' });
  assert.deepEqual([script.sent.length, script.closed, script.waits], [1, 1, []]);
});

test('a device that was revoked while the connection idled is told so', async () => {
  const script = new Script();
  const channel = script.channel();
  await channel.exchange(FRAME);
  const [transport] = script.transports;
  Object.assign(transport, { open: false, end: new DeviceRevoked() });
  transport.exchange = async () => {
    throw transport.end;
  };
  await assert.rejects(channel.exchange(FRAME), { code: 'device_revoked' });
  assert.equal(script.kinds.length, 1);
});

test('HTTP takes over when the upgrade is refused, and quickly', async () => {
  const script = new Script({ connects: [REFUSED] });
  const channel = script.channel();
  await channel.exchange(FRAME);
  await channel.exchange(FRAME);
  assert.deepEqual(script.kinds, ['websocket', 'http']);
  assert.deepEqual(script.timeouts, [4, 10]);
  assert.equal(channel.transportName, 'http');
});

test('a browser that never opens a socket is not asked again', async () => {
  const script = new Script({ connects: [REFUSED, undefined, REFUSED], answers: [undefined, LOST] });
  const channel = script.channel();
  await channel.exchange(FRAME);
  await channel.exchange(FRAME);
  script.transports[1].open = false;
  await channel.exchange(FRAME);
  assert.deepEqual(script.kinds, ['websocket', 'http', 'websocket', 'http', 'http']);
});

test('a socket that has worked is tried again after HTTP stood in for it', async () => {
  const script = new Script({
    answers: [undefined, LOST, undefined, LOST, undefined, LOST],
    connects: [undefined, REFUSED, undefined, REFUSED, undefined, REFUSED],
  });
  const channel = script.channel();
  for (let i = 0; i < 4; i++) await channel.exchange(FRAME);
  assert.deepEqual(script.kinds, [
    'websocket', 'websocket', 'http', 'websocket', 'http', 'websocket', 'http',
  ]);
});

test('HTTP takes over from sockets that open and lose every frame', async () => {
  const script = new Script({ answers: [LOST, LOST] });
  const channel = script.channel();
  await channel.exchange(FRAME);
  assert.deepEqual(script.kinds, ['websocket', 'websocket', 'http']);
});

test('with sockets alone HTTP is only asked why there is none', async () => {
  const script = new Script({ connects: [REFUSED, new ServerRefused('unauthorized', 'no')] });
  await assert.rejects(script.channel({ mode: 'websocket' }).exchange(FRAME), { code: 'unauthorized' });
  assert.deepEqual(script.kinds, ['websocket', 'http']);
});

test('with sockets alone a refused upgrade stays one although HTTP works', async () => {
  const lines = Array.from({ length: 100 }, (_, i) => (i % 2 ? undefined : REFUSED));
  const script = new Script({ connects: lines });
  const channel = script.channel({ mode: 'websocket', patience: { total: 3 } });
  await assert.rejects(channel.exchange(FRAME), { code: 'upgrade_refused' });
  assert.equal(script.sent.length, 0);
});

test('an aborted exchange ends at once and leaves no connection with an answer on it', async () => {
  const script = new Script({ answers: [HANGS] });
  const channel = script.channel();
  const stop = new AbortController();
  const stopped = channel.exchange(FRAME, { signal: stop.signal });
  await settled();
  assert.deepEqual(script.sent, [FRAME]);
  stop.abort();
  await assert.rejects(stopped, { code: 'cancelled' });
  assert.equal(script.closed, 1);
  assert.deepEqual(await channel.exchange(OTHER), answerOf(OTHER));
  assert.equal(script.kinds.length, 2);
});

test('an exchange can be aborted while it connects, waits, and before it begins', async () => {
  const connecting = new Script({ connects: [HANGS] });
  const waiting = new Script({ connects: [GONE] });
  const stop = new AbortController();
  const pause = (/** @type {number} */ _, /** @type {AbortSignal} */ signal) =>
    new Promise((__, reject) => signal.addEventListener('abort', () => reject(new Error())));
  const first = connecting.channel().exchange(FRAME, { signal: stop.signal });
  const second = waiting.channel({ mode: 'http', pause }).exchange(FRAME, { signal: stop.signal });
  await settled();
  stop.abort();
  await assert.rejects(first, { code: 'cancelled' });
  await assert.rejects(second, { code: 'cancelled' });
  const third = new Script();
  await assert.rejects(third.channel().exchange(FRAME, { signal: stop.signal }), { code: 'cancelled' });
  assert.deepEqual([connecting.sent, waiting.sent, third.kinds], [[], [], []]);
});

test('one that waits for its turn can leave and the next one gets it', async () => {
  const script = new Script({ answers: [HANGS] });
  const channel = script.channel();
  const first = new AbortController();
  const second = new AbortController();
  const results = [
    channel.exchange(FRAME, { signal: first.signal }),
    channel.exchange(FRAME, { signal: second.signal }),
    channel.exchange(OTHER),
  ];
  await settled();
  second.abort();
  await assert.rejects(results[1], { code: 'cancelled' });
  first.abort();
  await assert.rejects(results[0], { code: 'cancelled' });
  assert.deepEqual(await results[2], answerOf(OTHER));
  assert.deepEqual(script.sent, [FRAME, OTHER]);
});

test('closing ends what is under way, and nothing begins afterwards', async () => {
  const script = new Script({ answers: [HANGS] });
  const channel = script.channel();
  const stopped = channel.exchange(FRAME);
  await settled();
  channel.close();
  await assert.rejects(stopped, { code: 'cancelled' });
  await assert.rejects(channel.exchange(FRAME), { code: 'cancelled' });
  assert.deepEqual([script.closed, script.kinds.length], [1, 1]);
});

test('a late answer replaces the connection without counting as a failure of the server', async () => {
  const script = new Script({ answers: [new AnswerLate(), new AnswerLate()] });
  const channel = script.channel();
  assert.deepEqual(await channel.exchange(FRAME), answerOf(FRAME));
  assert.deepEqual(script.sent, [FRAME, FRAME, FRAME]);
  assert.deepEqual([script.waits, script.notices], [[], []]);
});

test('silence may last twice as long each time, and longer behind a long frame', async () => {
  /** @type {number[]} */
  const timeouts = [];
  const script = new Script({ answers: [new AnswerLate(), new AnswerLate()] });
  const connect = script._connect.bind(script);
  script._connect = async (kind, how) => {
    const transport = await connect(kind, how);
    const { exchange } = transport;
    transport.exchange = (/** @type {Uint8Array} */ frame, /** @type {any} */ options) => {
      timeouts.push(options.timeout);
      return exchange(frame, options);
    };
    return transport;
  };
  await script.channel().exchange(new Uint8Array(320_000));
  assert.deepEqual(timeouts, [20, 40, 80]);
});

test('answers that stay away are given up within the patience for one', async () => {
  const script = new Script({ answers: Array(1000).fill(new AnswerLate()) });
  const channel = script.channel();
  const connect = script._connect.bind(script);
  script._connect = async (kind, how) => {
    script.now += 40;
    return connect(kind, how);
  };
  await assert.rejects(channel.exchange(FRAME), { code: 'connection_lost' });
  assert.ok(script.now > 300 && script.now < 600, `${script.now}`);
});

test('room for a longer answer is kept over reconnects and never shrinks', async () => {
  const script = new Script({ answers: [undefined, LOST] });
  const channel = script.channel();
  await channel.exchange(FRAME);
  channel.accept(100_000);
  channel.accept(10);
  await channel.exchange(FRAME);
  assert.deepEqual(script.accepted, [65_552, 100_000, 100_000, 100_000]);
});
