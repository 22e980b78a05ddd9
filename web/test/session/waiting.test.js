import assert from 'node:assert/strict';
import { test } from 'node:test';
import { truth } from './peer.js';
import { Rig } from './rig.js';
import { PATIENCE } from '../../src/transport/patience.js';

const FULL = { code: 'too_many_sessions', retryable: true, retryAfter: 4 };

test('a session that is lost soon after it was opened is not opened again at once', async () => {
  const rig = new Rig();
  await rig.extend([1, 2]);
  for (const [tokens, least] of /** @type {[number[], number][]} */ ([[[1, 2, 3], 0.2], [[1, 2, 3, 4], 0.4]])) {
    rig.peer.sessions.clear();
    const before = rig.now;
    assert.deepEqual(await rig.extend(tokens), truth(tokens));
    assert.ok(rig.now - before >= least, `${rig.now - before}`);
  }
  rig.now += 60;
  rig.peer.sessions.clear();
  const before = rig.now;
  assert.deepEqual(await rig.extend([1, 2, 3]), truth([1, 2, 3]));
  assert.equal(rig.now, before);
});

/**
 * Seconds that each of several replies waits, all sessions lost before it.
 * @param {Rig} rig @param {() => void} lose
 */
async function waitsAfter(rig, lose) {
  const waits = [];
  const tokens = [1, 2];
  await rig.extend(tokens);
  for (let token = 0; token < 6; token++) {
    rig.now += 5;
    rig.peer.sessions.clear();
    lose();
    tokens.push(token);
    const before = rig.now;
    assert.deepEqual(await rig.extend(tokens), truth(tokens));
    waits.push(Number((rig.now - before).toFixed(6)));
  }
  return waits;
}

test('a session that went with its connection waits for the connection alone', async () => {
  for (const several of [true, false]) {
    const rig = new Rig({ several });
    const lose = () => {
      const fate = rig.fate;
      rig.fate = () => {
        rig.fate = fate;
        return 'before';
      };
    };
    const waits = await waitsAfter(rig, lose);
    assert.ok(Math.max(...waits) <= PATIENCE.firstDelay, `${waits}`);
    assert.equal(rig.backend.sessionsOpened, 7);
  }
});

test('another replica does not count as a server that loses sessions', async () => {
  const rig = new Rig({ several: false });
  let life = 0;
  const lose = () => void (rig.peer.replica = `r${(life += 1)}`);
  lose();
  const waits = await waitsAfter(rig, lose);
  // That it is another one is known once a session is open there.
  assert.ok(Math.max(...waits) <= 2 * PATIENCE.firstDelay, `${waits}`);
});

test('a session that the server does not know is not closed there', async () => {
  const rig = new Rig();
  await rig.extend([1, 2]);
  rig.peer.sessions.clear();
  await rig.extend([1, 2, 3]);
  assert.deepEqual(rig.peer.messages.filter(({ type }) => type === 'close'), []);
});

test('a newcomer waits as long as it is told to, and says so until it has its place', async () => {
  const rig = new Rig();
  rig.peer.failures = [FULL, { ...FULL, retryAfter: 7 }];
  assert.deepEqual(await rig.extend([1]), truth([1]));
  assert.deepEqual(rig.waits, [4, 7]);
  assert.deepEqual(rig.told, [
    { type: 'waiting', code: 'too_many_sessions', delay: 4 },
    { type: 'waiting', code: 'too_many_sessions', delay: 7 },
    { type: 'waited' },
  ]);
});

test('a newcomer waits longer for a session than for a queue', async () => {
  const rig = new Rig({ busyPatience: 20 });
  rig.peer.failures = Array(999).fill({ ...FULL, retryAfter: 1 });
  await assert.rejects(rig.backend.open(), { code: 'too_many_sessions' });
  assert.ok(rig.now > 90 && rig.now <= 100, `${rig.now}`);
});

test('waiting for a place can be ended', async () => {
  const rig = new Rig();
  const stop = new AbortController();
  rig.peer.failures = [FULL];
  rig.onSent = () => stop.abort();
  await assert.rejects(rig.extend([1], stop.signal), { code: 'cancelled' });
  assert.equal(rig.peer.opened, 0);
});

test('a server may keep a newcomer waiting in silence without its connection being replaced', async () => {
  const rig = new Rig();
  await rig.extend([1]);
  const [opening, step] = rig.timeouts;
  assert.ok(opening > 20 && step < 15, `${opening} ${step}`);
});

test('a session that takes its time to open is told of, one that opens at once is not', async () => {
  /** @type {{seconds: number, run: () => void, off: boolean}[]} */
  const timers = [];
  const later = (/** @type {number} */ seconds, /** @type {() => void} */ run) => {
    const timer = { seconds, run, off: false };
    timers.push(timer);
    return () => void (timer.off = true);
  };
  const rig = new Rig({ later });
  await rig.backend.open();
  assert.deepEqual([rig.told, timers[0].off], [[], true]);
  const slow = new Rig({ later });
  slow.onSent = () => timers[1].run();
  await slow.backend.open();
  assert.deepEqual(slow.told, [{ type: 'waiting', code: 'opening', delay: 0 }, { type: 'waited' }]);
});
