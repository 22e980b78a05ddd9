import assert from 'node:assert/strict';
import { test } from 'node:test';
import { OneDtypeBackend } from '../../src/noise/backend.js';
import { NoiseDtypeChanged } from '../../src/noise/errors.js';
import { encodeServerMessage } from '../../src/protocol/server_messages.js';
import { decodeServerMessage } from '../../src/protocol/parsing.js';
import { Sequence } from '../../src/session/sequence.js';
import { MANIFEST } from '../session/peer.js';
import { Rig } from '../session/rig.js';
import { Device, WIDTH } from './device.js';

/** A noised sequence to a server that may say what it likes. */
async function noised(device = new Device()) {
  const rig = new Rig();
  const conversation = await device.conversation();
  const about = { manifest: MANIFEST, hiddenSize: WIDTH, dtype: conversation.dtype };
  const refusal = (/** @type {string} */ began, /** @type {string} */ wanted) =>
    new NoiseDtypeChanged(began, wanted);
  const backend = new OneDtypeBackend(rig.channel, about, refusal);
  const rows = (/** @type {number[]} */ tokens, /** @type {number} */ start, /** @type {number} */ stop) =>
    conversation.rows(tokens, start, stop, backend.dtype);
  return { rig, device, conversation, sequence: new Sequence(backend, rows) };
}

/** @param {Rig} rig @param {string} type */
const sent = (rig, type) => rig.peer.messages.filter((message) => message.type === type);

/** Sessions are opened in that dtype, whatever is asked for. @param {Rig} rig @param {any} dtype */
function insist(rig, dtype) {
  rig.fate = () => (answer) => {
    const message = decodeServerMessage(answer, 1 << 20);
    return message.type === 'opened' ? encodeServerMessage({ ...message, dtype }) : answer;
  };
}

/** Every step carried what the first one carried at its place. @param {Rig} rig */
function requireOneCopy(rig) {
  const steps = sent(rig, 'step').map(({ start, embeddings }) => ({ start, data: [...embeddings.data] }));
  const [first, ...others] = steps;
  for (const { start, data } of others) {
    assert.deepEqual(data, first.data.slice(4 * WIDTH * start, 4 * WIDTH * start + data.length));
  }
}

test('a lost session is opened in the dtype of the first and repeats its bytes', async () => {
  const { rig, conversation, sequence } = await noised();
  await sequence.extend([1, 2, 3]);
  rig.peer.sessions.clear();
  await sequence.extend([1, 2, 3]);
  assert.deepEqual(sent(rig, 'open').map(({ dtype }) => dtype), [null, 'f32']);
  requireOneCopy(rig);
  assert.equal(conversation.spent.rows, 3);
});

test('a server that insists on another dtype gets no second copy, also at a later visit', async () => {
  for (const dtype of /** @type {const} */ (['bf16', 'f16', 'i8'])) {
    const { rig, device, conversation, sequence } = await noised();
    await sequence.extend([1, 2, 3]);
    rig.peer.sessions.clear();
    insist(rig, dtype);
    for (let i = 0; i < 2; i++) {
      await assert.rejects(sequence.extend([1, 2, 3]), { code: 'noise_dtype_changed' });
    }
    const later = await noised(new Device({ factory: device.factory }));
    insist(later.rig, dtype);
    await assert.rejects(later.sequence.extend([1, 2, 3]), { code: 'noise_dtype_changed' });
    assert.equal(sent(later.rig, 'step').length, 0);
    requireOneCopy(rig);
    assert.equal(conversation.spent.rows, 3);
  }
});

test('a frame that was lost on its way is sent again with the same bytes', async () => {
  const { rig, conversation, sequence } = await noised();
  await sequence.extend([1, 2]);
  const fates = ['before', 'after', 'works'];
  rig.fate = () => /** @type {any} */ (fates.shift() ?? 'works');
  await sequence.extend([1, 2, 3]);
  assert.equal(conversation.spent.rows, 3);
  assert.equal(new Set(sent(rig, 'step').slice(1).map(({ embeddings }) => String(embeddings.data))).size, 1);
});

test('another answer that breaks the protocol keeps its own error', async () => {
  const { rig, sequence } = await noised();
  await sequence.extend([1, 2, 3]);
  rig.peer.sessions.clear();
  rig.peer.manifest = 'other';
  await assert.rejects(sequence.extend([1, 2, 3]), { code: 'model_changed' });
});
