import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Peer, truth, truths } from './peer.js';
import { Rig } from './rig.js';

/** Steps as [start, rows, states asked for]. @param {Rig} rig @param {number} [from] */
const steps = (rig, from = 0) =>
  rig.peer.messages.slice(from).flatMap(({ type, start, embeddings, rows }) => (type === 'step' ? [[start, embeddings.rows, rows]] : []));

/** @param {any} [fields] */
const rigOf = (fields) => new Rig({ peer: Object.assign(new Peer(), { maxRows: 8, ...fields }) });

test('a step brings the states after each of the drafted tokens', async () => {
  const rig = rigOf();
  await rig.extend([1, 2]);
  const { states, hidden, rows } = await rig.sequence.cache([1, 2, 3, 4, 5], { rows: 3 });
  assert.deepEqual(states, truths([1, 2, 3, 4, 5], 3));
  assert.deepEqual([hidden, rows], [truth([1, 2, 3, 4, 5]), 3]);
  assert.deepEqual(steps(rig), [[0, 2, 'last'], [2, 3, 'all']]);
});

test('what is missing and the draft are one step, and a draft that is refused is taken back by the next', async () => {
  const rig = rigOf();
  assert.deepEqual((await rig.sequence.cache([1, 2, 3, 4, 5], { rows: 3 })).states, truths([1, 2, 3, 4, 5], 3));
  assert.deepEqual((await rig.sequence.cache([1, 2, 3, 9, 8], { rows: 2 })).states, truths([1, 2, 3, 9, 8], 2));
  assert.deepEqual(steps(rig), [[0, 5, 3], [3, 2, 'all']]);
});

test('a server without the capability is sent the prompt first, and all states of the draft come back', async () => {
  const rig = rigOf({ returnsRows: false });
  const prompt = [1, 2, 3, 4, 5, 6, 7, 8, 9];
  assert.deepEqual((await rig.sequence.cache([...prompt, 3, 4], { rows: 3 })).states, truths([...prompt, 3, 4], 3));
  assert.deepEqual((await rig.sequence.cache([...prompt, 3, 5, 5], { rows: 2 })).states, truths([...prompt, 3, 5, 5], 2));
  assert.deepEqual(steps(rig), [[0, 8, 'last'], [8, 3, 'all'], [10, 2, 'all']]);
});

test('a short step of a server without the capability brings all its states', async () => {
  const rig = rigOf({ returnsRows: false });
  assert.deepEqual((await rig.sequence.cache([1, 2, 3, 4, 5], { rows: 3 })).states, truths([1, 2, 3, 4, 5], 3));
  assert.deepEqual(steps(rig), [[0, 5, 'all']]);
});

test('states of tokens that are cached already are asked for again', async () => {
  const rig = rigOf();
  await rig.extend([1, 2, 3, 4]);
  assert.deepEqual((await rig.sequence.cache([1, 2, 3, 4], { rows: 3 })).states, truths([1, 2, 3, 4], 3));
  assert.deepEqual(steps(rig), [[0, 4, 'last'], [1, 3, 'all']]);
});

test('more states than the tokens have are a mistake of the caller', async () => {
  const rig = rigOf();
  for (const rows of [0, -1, 3, 1.5]) {
    await assert.rejects(rig.sequence.cache([1, 2], { rows }), { code: 'protocol_state' });
  }
  assert.deepEqual(rig.peer.messages, []);
});

test('a session that was lost brings all states again', async () => {
  const rig = rigOf();
  await rig.extend([1, 2]);
  rig.peer.sessions.clear();
  assert.deepEqual((await rig.sequence.cache([1, 2, 3, 4], { rows: 2 })).states, truths([1, 2, 3, 4], 2));
  assert.deepEqual([rig.sequence.counters.resends, rig.backend.sessionsOpened], [1, 2]);
});

test('a drafted step that was stopped is settled before the next one', async () => {
  const rig = rigOf();
  await rig.extend([1, 2]);
  const stop = new AbortController();
  rig.onSent = () => stop.abort();
  await assert.rejects(rig.sequence.cache([1, 2, 3, 4], { rows: 2, signal: stop.signal }), { code: 'cancelled' });
  rig.onSent = () => {};
  assert.deepEqual(await rig.extend([1, 2, 3, 9]), truth([1, 2, 3, 9]));
  assert.equal(rig.backend.sessionsOpened, 1);
});

const LONG = Array.from({ length: 20 }, (_, i) => i);

test('of a draft that is taken back no end is noted, of what the conversation held one is', async () => {
  const rig = rigOf({ maxRows: 64 });
  await rig.sequence.cache([...LONG, 50, 51, 52], { rows: 3 });
  await rig.sequence.cache([...LONG, 50, 60, 61], { rows: 2 });
  assert.deepEqual(rig.sequence.trail.ends, []);
  await rig.extend([...LONG, 70]);
  assert.deepEqual(rig.sequence.trail.ends, [[...LONG, 50, 60], [...LONG, 50, 60, 61]]);
});

test('with how many rows a step is interactive is what the server says', async () => {
  assert.equal(await rigOf({ maxRows: 64 }).sequence.interactiveRows(), 16);
  assert.equal(await rigOf().sequence.interactiveRows(), 8);
  const rig = rigOf({ interactiveRows: 4 });
  assert.equal(await rig.sequence.interactiveRows(), 4);
  assert.equal(rig.peer.opened, 1);
});

test('the channel takes answers as long as what is asked for makes them, and no longer', async () => {
  const rig = rigOf();
  const accepted = /** @type {number[]} */ ([]);
  rig.channel.accept = (bytes) => void accepted.push(bytes);
  await rig.extend([1]);
  await rig.sequence.cache([1, 2, 3, 4], { rows: 3 });
  assert.equal(accepted[1] - accepted[0], 2 * 4 * 4);
});
