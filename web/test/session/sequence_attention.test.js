import assert from 'node:assert/strict';
import { test } from 'node:test';
import { attentionTruth, truth, weightsOf } from './peer.js';
import { Rig } from './rig.js';

/** @param {Rig} rig */
const asked = (rig) => rig.peer.messages.filter(({ type }) => type === 'step').map(({ attention }) => attention);

test('attention is asked for with the last of the steps alone', async () => {
  const rig = new Rig();
  const extended = await rig.sequence.extend([1, 2, 3, 4, 5, 6, 7], { attention: 'row' });
  assert.deepEqual(weightsOf(extended), attentionTruth([1, 2, 3, 4, 5, 6, 7]));
  assert.deepEqual(asked(rig).map((each) => each !== null), [false, false, true]);
  assert.deepEqual(asked(rig)[2], { heads: 'mean', topK: 0, dtype: 'f16', layers: [], reduce: 'none' });
});

test('a server without attention is not asked, and the cache stays', async () => {
  const rig = new Rig();
  rig.peer.layers = 0;
  await rig.extend([1, 2]);
  await assert.rejects(rig.sequence.extend([1, 2, 3], { attention: 'row' }), { code: 'unsupported' });
  assert.deepEqual(await rig.extend([1, 2, 3]), truth([1, 2, 3]));
  assert.deepEqual([rig.peer.runs.size, rig.sequence.counters.rowsSent], [2, 3]);
});

test('a session that was lost brings the attention of the whole prompt again', async () => {
  const rig = new Rig();
  await rig.extend([1, 2]);
  rig.peer.sessions.clear();
  const extended = await rig.sequence.extend([1, 2, 3], { attention: 'row' });
  assert.deepEqual(weightsOf(extended), attentionTruth([1, 2, 3]));
});

test('answers may be as long as their attention makes them', async () => {
  const rig = new Rig();
  await rig.extend([1]);
  const accepted = /** @type {number[]} */ ([]);
  rig.channel.accept = (bytes) => void accepted.push(bytes);
  rig.backend.attend(20, 'row');
  rig.backend.attend(40, 'row');
  assert.equal(accepted[1] - accepted[0], 2 * 20 * 2);
});
