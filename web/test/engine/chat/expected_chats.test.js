import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ChatSession } from '../../../src/engine/chat/session.js';
import { Rig } from '../../session/rig.js';
import { truth } from '../../session/peer.js';

const WIDTH = 4;
const manifest = { digest: 'm', hiddenSize: WIDTH, maxContext: 400, generation: {}, files: [] };
const rows = async (/** @type {number[]} */ ids) => Float32Array.from(ids.flatMap((id) => Array(WIDTH).fill(id)));
const model = /** @type {any} */ ({ manifest, rows, template: null });

function chatOf() {
  const rig = new Rig();
  return { rig, chat: new ChatSession(model, rig.channel) };
}

/** @param {Rig} rig */
const types = (rig) => rig.peer.messages.map(({ type }) => type);

test('a chat that is expected has its session before its first message, and opens it once', async () => {
  const { rig, chat } = chatOf();
  await Promise.all([chat.expect(), chat.expect()]);
  assert.deepEqual(types(rig), ['open']);
  assert.deepEqual((await chat.sequence.extend([1, 2])).hidden, truth([1, 2]));
  assert.deepEqual(types(rig), ['open', 'step']);
});

test('a session that was lost meanwhile is opened again with the message, and not before', async () => {
  const { rig, chat } = chatOf();
  await chat.expect();
  rig.peer.sessions.clear();
  await chat.expect();
  assert.deepEqual(types(rig), ['open']);
  assert.deepEqual((await chat.sequence.extend([1, 2])).hidden, truth([1, 2]));
});

test('what goes wrong early is told when the message is sent, if it still does', async () => {
  const { rig, chat } = chatOf();
  rig.peer.failures = [{ code: 'too_many_sessions' }];
  await chat.expect();
  assert.deepEqual((await chat.sequence.extend([1])).hidden, truth([1]));
  rig.peer.failures = [{ code: 'too_many_sessions' }];
});

test('a reply waits for the session that is being opened, and can be stopped meanwhile', async () => {
  const { rig, chat } = chatOf();
  let open = () => {};
  const opening = new Promise((resolve) => (open = () => resolve(null)));
  const { carry } = rig;
  rig.carry = async (...frame) => {
    await opening;
    return carry.apply(rig, frame);
  };
  const early = chat.expect();
  const stop = new AbortController();
  const stopped = assert.rejects(chat.settled(stop.signal), { code: 'cancelled' });
  stop.abort();
  await stopped;
  const waited = chat.settled(new AbortController().signal);
  open();
  await Promise.all([early, waited]);
  assert.deepEqual((await chat.sequence.extend([1, 2])).hidden, truth([1, 2]));
  assert.equal(rig.peer.opened, 1);
});

test('a chat that is left while its session is being opened is left', async () => {
  const { rig, chat } = chatOf();
  rig.peer.failures = Array(99).fill({ code: 'overloaded', retryable: true, retryAfter: 1 });
  const early = chat.expect();
  await chat.close();
  await early;
  assert.equal(rig.peer.sessions.size, 0);
});

test('leaving a chat waits for no answer', async () => {
  const { rig, chat } = chatOf();
  await chat.sequence.extend([1]);
  const { carry } = rig;
  rig.carry = async (...frame) => {
    await carry.apply(rig, frame);
    return new Promise(() => {});
  };
  await chat.close();
  assert.deepEqual([types(rig).at(-1), rig.peer.sessions.size], ['close', 0]);
});
