import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Saver } from '../../../../src/ui/state/chats/saver.js';

/** @param {string} id @param {number} updated @returns {any} */
const chat = (id, updated) => ({ id, updated });

test('of several states of a chat that wait, the newest is written', async () => {
  /** @type {number[]} */
  const written = [];
  const saver = new Saver(async ({ updated }) => void written.push(updated), () => assert.fail());
  void saver.put(chat('a', 1));
  void saver.put(chat('a', 2));
  await saver.put(chat('a', 3));
  assert.deepEqual(written, [1, 3]);
});

test('writes follow one another, and one that fails stops no other', async () => {
  let running = 0;
  /** @type {string[]} */
  const events = [];
  const save = async (/** @type {any} */ { id }) => {
    assert.equal(running++, 0);
    await null;
    running -= 1;
    if (id === 'b') throw new Error('no');
    events.push(id);
  };
  const saver = new Saver(save, (_, { id }) => events.push(`not ${id}`));
  for (const id of ['a', 'b', 'c']) void saver.put(chat(id, 0));
  await saver.idle();
  assert.deepEqual(events, ['a', 'not b', 'c']);
});

test('a chat that is forgotten is not written', async () => {
  /** @type {string[]} */
  const written = [];
  const saver = new Saver(async ({ id }) => void written.push(id), () => assert.fail());
  void saver.put(chat('a', 0));
  void saver.put(chat('b', 0));
  saver.forget('b');
  await saver.idle();
  assert.deepEqual(written, ['a']);
});
