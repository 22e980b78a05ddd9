import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Route } from '../../src/transport/routing.js';
import { truth } from './peer.js';
import { Rig } from './rig.js';

const FULL = { code: 'too_many_sessions', retryable: true, retryAfter: 4 };

/** Ids that tell how often it was changed. */
function numbered() {
  let made = 0;
  return new Route(null, () => String(made++));
}

/** @param {Rig} rig */
const waits = (rig) => rig.peer.messages.filter(({ type }) => type === 'open').map(({ wait }) => wait);

for (const code of ['too_many_sessions', 'overloaded', 'cache_full']) {
  test(`a device that is refused with ${code} asks elsewhere at once`, async () => {
    const rig = new Rig({ route: numbered() });
    rig.peer.failures = [{ ...FULL, code }];
    assert.deepEqual(await rig.extend([1, 2]), truth([1, 2]));
    assert.deepEqual([rig.went, rig.waits, rig.told], [['0', '1'], [], []]);
    assert.deepEqual(waits(rig), [false, false]);
  });
}

test('after three refusals it says that it waits', async () => {
  const rig = new Rig({ route: numbered() });
  rig.peer.failures = [FULL, FULL, FULL];
  assert.deepEqual(await rig.extend([1]), truth([1]));
  assert.deepEqual([rig.went, rig.waits], [['0', '1', '2', '3'], []]);
  assert.deepEqual(waits(rig), [false, false, false, true]);
});

test('where it has waited in vain it pauses before it asks elsewhere', async () => {
  const rig = new Rig({ route: numbered() });
  rig.peer.failures = Array(5).fill(FULL);
  assert.deepEqual(await rig.extend([1]), truth([1]));
  assert.deepEqual([rig.went.length, rig.waits], [6, [4, 4]]);
  assert.deepEqual(waits(rig), [false, false, false, true, true, true]);
});

test('a device with another session there stays and waits', async () => {
  const route = numbered();
  const rig = new Rig({ route });
  route.carries({ opened: {} });
  rig.peer.failures = [FULL, FULL];
  assert.deepEqual(await rig.extend([1]), truth([1]));
  assert.deepEqual([rig.went, rig.waits], [['0'], [4, 4]]);
  assert.deepEqual(waits(rig), [false, true, true]);
});

test('another refusal is not moved away from', async () => {
  const rig = new Rig({ route: numbered() });
  rig.peer.failures = [{ ...FULL, code: 'shutting_down' }];
  assert.deepEqual(await rig.extend([1]), truth([1]));
  assert.deepEqual([rig.went, rig.waits, waits(rig)], [['0'], [4], [false, false]]);
});

test('machines that stay full are given up', async () => {
  const rig = new Rig({ route: numbered() });
  rig.peer.failures = Array(999).fill(FULL);
  await assert.rejects(rig.backend.open(), { code: 'too_many_sessions' });
  assert.ok(rig.now > 290 && rig.now <= 300, `${rig.now}`);
  assert.equal(waits(rig).length, 3 + rig.waits.length + 1);
});
