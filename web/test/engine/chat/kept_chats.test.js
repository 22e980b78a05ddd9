import assert from 'node:assert/strict';
import { test } from 'node:test';
import { forgetChat } from '../../../src/engine/chat/forgotten.js';
import { OpenChats } from '../../../src/engine/chat/open_chats.js';
import { Peer } from '../../session/peer.js';

const WIDTH = 4;
const LONG = Array.from({ length: 50 }, (_, i) => i);
const manifest = { digest: 'm', hiddenSize: WIDTH, maxContext: 400, generation: {}, files: [] };
const rows = async (/** @type {number[]} */ ids) => Float32Array.from(ids.flatMap((id) => Array(WIDTH).fill(id)));
const model = /** @type {any} */ ({ manifest, rows, template: null });

/** A server, and the channel to it. */
function server() {
  const peer = Object.assign(new Peer(), { restores: true, maxRows: 512, maxContext: 400 });
  const channel = {
    accept() {}, tell() {}, patience: { first: 0, longest: 0 },
    exchange: async (/** @type {Uint8Array} */ frame) => peer.answer(frame),
    flight: (/** @type {any} */ run) => {
      /** @type {Uint8Array[]} */
      const answers = [];
      return run({
        push: (/** @type {Uint8Array} */ frame) => answers.push(peer.answer(frame)),
        answer: async () => answers.shift(),
        drop: () => answers.splice(0),
      });
    },
    farewell: async (/** @type {Uint8Array} */ frame) => void peer.answer(frame),
  };
  const sent = (/** @type {string} */ type) => peer.messages.filter((message) => message.type === type);
  return { peer, sent, channel: () => /** @type {any} */ (channel) };
}

test('a second chat asks with its opening, in the dtype of the first', async () => {
  const { sent, channel } = server();
  const chats = new OpenChats();
  const keeping = /** @type {const} */ ({ cache: 'exact', cacheSalt: 'salt' });
  for (const [name, token] of /** @type {[string, number][]} */ ([['first', 7], ['second', 8]])) {
    await (await chats.take(name, model, channel, null, keeping)).sequence.extend([...LONG, token]);
  }
  assert.deepEqual(sent('open').map(({ probe, cacheSalt }) => [probe?.known, cacheSalt]), [[undefined, 'salt'], [50, 'salt']]);
  assert.deepEqual(sent('step').map(({ start, embeddings }) => [start, embeddings.rows]), [[0, 51], [50, 1]]);
});

test('a chat of which nothing is to be kept any more goes on in another session, and asks for nothing', async () => {
  const { sent, channel } = server();
  const chats = new OpenChats();
  for (const cache of /** @type {const} */ (['exact', 'exact', 'off', 'off'])) {
    const chat = await chats.take('chat', model, channel, null, { cache });
    await chat.sequence.extend([...LONG, 7]);
  }
  assert.deepEqual(sent('open').map(({ cache, probe }) => [cache, probe]), [['exact', null], ['off', null]]);
  assert.equal(sent('close').length, 1);
  assert.deepEqual(sent('restore').map(({ session }) => session), ['s1']);
});

test('of a chat with noise no name leaves before its rows do', async () => {
  const { sent, channel } = server();
  const conversation = { dtype: 'f32', rows: async (/** @type {number[]} */ ids, /** @type {number} */ start,
    /** @type {number} */ stop) => rows(ids.slice(start, stop)), sharesKey: () => true };
  const mode = /** @type {any} */ ({ conversation: async () => conversation, otherDtype: () => new Error('dtype') });
  const chats = new OpenChats();
  const chat = await chats.take('chat', model, channel, mode, { cache: 'exact' });
  await chat.sequence.extend([...LONG, 7]);
  await chat.sequence.extend([...LONG.map((id) => id + 1), 7]);
  assert.deepEqual(sent('open').map(({ probe }) => probe), [null]);
  assert.deepEqual([sent('restore').length, sent('step').length], [0, 2]);
  assert.ok(sent('step').every(({ embeddings }) => embeddings.rows === 51));
});

test('what the server keeps of a chat is deleted, also of one that has no session here any more', async () => {
  const { peer, sent, channel } = server();
  const chats = new OpenChats();
  const chat = await chats.take('chat', model, channel, null, { cache: 'exact' });
  await chat.sequence.extend([...LONG, 7]);
  const which = { chat: 'chat', said: [] };
  assert.deepEqual(await forgetChat(chats, which, model, channel, {}), { positions: 51, left: 0, earlier: true });
  assert.equal(peer.kept.size, 0);
  assert.equal(sent('close')[0].keep, false);

  await chat.sequence.extend([...LONG, 7]);
  await chats.close('chat');
  const template = { render: async (/** @type {any[]} */ messages) => messages.map(({ content }) => content).join('') };
  const encode = (/** @type {string} */ text) => Array.from(text, (digit) => Number(digit));
  const tokenizer = { encode, encodeAfter: () => null, decode: (/** @type {number[]} */ ids) => ids.join('') };
  const texts = /** @type {any} */ ({ ...model, template, tokenizer });
  const digits = '1234512345123451234512345';
  const again = await chats.take('texts', texts, channel, null, { cache: 'exact' });
  await again.sequence.extend(encode(digits));
  await chats.close('texts');
  const said = [[{ role: 'user', content: digits.slice(0, 20) }, { role: 'assistant', content: digits.slice(20) }]];
  const done = await forgetChat(chats, /** @type {any} */ ({ chat: 'texts', said }), texts, channel, {});
  assert.deepEqual(done, { positions: 25, left: 0, earlier: true });
});

test('of a chat with noise that has no session here nothing is asked', async () => {
  const { peer, channel } = server();
  const done = await forgetChat(new OpenChats(), { chat: 'chat', said: [] }, model, channel, {});
  assert.deepEqual([done, peer.messages.length], [{ positions: 0, left: 0, earlier: false }, 0]);
});

test('without a model no row is known that could be asked for', async () => {
  const said = [[{ role: 'user', content: 'a' }, { role: 'assistant', content: 'b' }]];
  const which = /** @type {any} */ ({ chat: 'chat', said });
  await assert.rejects(forgetChat(new OpenChats(), which, null, server().channel, {}), { code: 'not_ready' });
});
