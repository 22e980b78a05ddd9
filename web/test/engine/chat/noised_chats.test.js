import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { IDBFactory, IDBKeyRange } from 'fake-indexeddb';
import { Noise } from '../../../src/engine/noise.js';
import { OpenChats } from '../../../src/engine/chat/open_chats.js';

beforeEach(() => Object.assign(globalThis, { indexedDB: new IDBFactory(), IDBKeyRange }));

const manifest = {
  digest: 'ab'.repeat(32), hiddenSize: 3, maxContext: 100, generation: {}, files: [],
  embedding: { file: 'e', rows: 20, scale: null },
};
const rows = async (/** @type {number[]} */ ids) => Float32Array.from(ids.flatMap((id) => [id, 1, -1]));
const model = /** @type {any} */ ({ manifest, rows, template: null });
const channel = () => /** @type {any} */ ({ accept() {}, async farewell() {} });

test('a chat whose key was deleted while it was open goes on under another key, and counts anew', async () => {
  const noise = new Noise(() => {});
  const mode = await noise.mode({ sigma: 1 }, model);
  const chats = new OpenChats();
  const taken = async () => (await chats.take('chat', model, channel, mode)).noised?.conversation;
  const first = await taken();
  const sent = await first?.rows([1, 2, 3], 0, 3, 'f32');
  assert.equal(await taken(), first);
  // As another tab does that deletes the chat and has it back.
  await noise.forget('chat');
  const second = await taken();
  assert.notEqual(second, first);
  assert.notDeepEqual(await second?.rows([1, 2, 3], 0, 3, 'f32'), sent);
  assert.equal((await mode.status('chat')).all.rows, 6);
});
