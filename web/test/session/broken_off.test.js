import assert from 'node:assert/strict';
import { test } from 'node:test';
import { truth } from './peer.js';
import { Rig } from './rig.js';

/** Rows of the steps that were sent. @param {Rig} rig @param {number} [from] */
const rowsSent = (rig, from = 0) =>
  rig.peer.messages.slice(from).flatMap(({ type, embeddings }) => (type === 'step' ? [embeddings.rows] : []));

/** Stopped by a person, before the frame is there or once it is answered. @param {Rig} rig @param {number[]} tokens
 * @param {'before' | 'after'} fate */
async function stopped(rig, tokens, fate) {
  const stop = new AbortController();
  rig.fate = () => {
    stop.abort();
    return fate;
  };
  await assert.rejects(rig.extend(tokens, stop.signal), { code: 'cancelled' });
  rig.fate = () => 'works';
}

/** The network is away for longer than the channel's patience. @param {Rig} rig @param {number[]} tokens
 * @param {'before' | 'after'} fate */
async function away(rig, tokens, fate) {
  let first = true;
  rig.fate = () => {
    const now = first ? fate : 'before';
    first = false;
    return now;
  };
  await assert.rejects(rig.extend(tokens), { code: 'connection_lost' });
  rig.fate = () => 'works';
}

for (const broken of [stopped, away]) {
  for (const fate of /** @type {const} */ (['before', 'after'])) {
    test(`after a step that was broken off the session goes on (${broken.name}, ${fate})`, async () => {
      const rig = new Rig();
      await rig.extend([1, 2, 3, 4]);
      await broken(rig, [1, 2, 3, 4, 5], fate);
      const before = rig.peer.messages.length;
      assert.deepEqual(await rig.extend([1, 2, 3, 4, 5, 6]), truth([1, 2, 3, 4, 5, 6]));
      assert.deepEqual(rowsSent(rig, before), [1, 1]);
      assert.equal(rig.backend.sessionsOpened, 1);
      assert.ok([...rig.peer.runs.values()].every((count) => count === 1));
    });
  }
}

test('after a broken off step another conversation begins in the same session', async () => {
  const rig = new Rig();
  await rig.extend([1, 2, 3, 4]);
  await stopped(rig, [1, 2, 9, 9], 'after');
  assert.deepEqual(await rig.extend([1, 7]), truth([1, 7]));
  assert.equal(rig.backend.sessionsOpened, 1);
});

for (const [refusal, waits] of /** @type {[any, number[]][]} */ ([
  [{ code: 'overloaded', retryable: true, retryAfter: 4 }, [4]],
  [{ code: 'unknown_adapter' }, []],
])) {
  test(`a broken off step that is refused with ${refusal.code} when it is sent again costs no session`, async () => {
    const rig = new Rig();
    await rig.extend([1, 2, 3, 4]);
    await stopped(rig, [1, 2, 3, 4, 5], 'before');
    const before = rig.peer.messages.length;
    rig.peer.failures = [refusal];
    assert.deepEqual(await rig.extend([1, 2, 3, 4, 5, 6]), truth([1, 2, 3, 4, 5, 6]));
    assert.deepEqual(rig.waits, waits);
    assert.deepEqual(rowsSent(rig, before), [1, 2]);
    assert.equal(rig.backend.sessionsOpened, 1);
  });
}

test('where an edit was broken off and refused, only what was before it is believed', async () => {
  const rig = new Rig();
  await rig.extend([1, 2, 3]);
  await stopped(rig, [1, 2, 9], 'before');
  rig.peer.failures = [{ code: 'unknown_adapter' }];
  assert.deepEqual(await rig.extend([1, 2, 9, 4]), truth([1, 2, 9, 4]));
  assert.equal(rig.sequence.counters.resends, 0);
});

test('a session that is gone when a broken off step is sent again is opened anew', async () => {
  const rig = new Rig();
  await rig.extend([1, 2]);
  await stopped(rig, [1, 2, 3], 'before');
  rig.peer.sessions.clear();
  assert.deepEqual(await rig.extend([1, 2, 3]), truth([1, 2, 3]));
  assert.equal(rig.backend.sessionsOpened, 2);
});
