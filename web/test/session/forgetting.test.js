import assert from 'node:assert/strict';
import { test } from 'node:test';
import { forget } from '../../src/session/forgetting.js';
import { Peer, truth } from './peer.js';
import { Rig } from './rig.js';

/** @param {number} count @param {number} [from] */
const tokensOf = (count, from = 0) => Array.from({ length: count }, (_, i) => from + i);
const PROMPT = tokensOf(60);
const BRANCH = [...PROMPT.slice(0, 32), ...tokensOf(30, 90)];

/** @param {any} [options] */
function device(options) {
  const peer = Object.assign(new Peer(), { restores: true, maxRows: 512, maxContext: 200 });
  return new Rig({ peer, nameable: true, ...options });
}

/** @param {Rig} rig @param {number[][]} [said] */
const forgotten = ({ backend, sequence }, said = []) =>
  forget(backend, sequence.leave(), [...sequence.trail.ends, ...said], sequence.named);

test('what the open session holds is deleted, and the next step sends everything again', async () => {
  const rig = device();
  await rig.extend(PROMPT);
  assert.deepEqual(await forgotten(rig), { positions: 60, left: 0, earlier: true });
  assert.equal(rig.peer.kept.size, 0);
  assert.deepEqual(await rig.extend([...PROMPT, 7]), truth([...PROMPT, 7]));
  assert.equal(rig.sequence.counters.rowsRestored, 0);
});

test('branches that were cut off and what a lost session left are deleted as well', async () => {
  const rig = device();
  await rig.extend(PROMPT);
  await rig.extend(BRANCH);
  rig.peer.sessions.clear();
  assert.deepEqual(await forgotten(rig), { positions: 60 + 62 - 32, left: 0, earlier: true });
  assert.equal(rig.peer.kept.size, 0);
});

test('a page that was loaded again deletes by the texts alone', async () => {
  const rig = device();
  await rig.extend(PROMPT);
  await rig.sequence.close();
  rig.sequence.trail.clear();
  assert.deepEqual(await forgotten(rig, [PROMPT, BRANCH]), { positions: 60, left: 0, earlier: true });
  assert.equal(rig.peer.kept.size, 0);
});

test('what the server does not delete is told', async () => {
  const rig = device();
  await rig.extend(PROMPT);
  rig.peer._cut = () => true;
  assert.deepEqual(await forgotten(rig), { positions: 60, left: 60, earlier: true });
});

test('a server that does not confirm has deleted nothing', async () => {
  const rig = device();
  await rig.extend(PROMPT);
  rig.peer._cut = () => false;
  await assert.rejects(forgotten(rig), /did not confirm/);
});

test('rows that must not be named are not', async () => {
  const rig = device({ nameable: false });
  await rig.extend(PROMPT);
  await rig.extend(BRANCH);
  const from = rig.peer.messages.length;
  assert.deepEqual(await forgotten(rig, [PROMPT]), { positions: 62, left: 0, earlier: false });
  assert.deepEqual(rig.peer.messages.slice(from).map(({ type }) => type), ['close']);
});

test('a server that cannot be asked is asked once', async () => {
  const rig = device();
  await rig.extend(PROMPT);
  await rig.extend(BRANCH);
  await rig.sequence.close();
  rig.peer.restores = false;
  const from = rig.peer.messages.length;
  assert.deepEqual(await forgotten(rig), { positions: 0, left: 0, earlier: false });
  assert.deepEqual(rig.peer.messages.slice(from).map(({ type }) => type), ['open', 'close']);
});
