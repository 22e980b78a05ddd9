import assert from 'node:assert/strict';
import { test } from 'node:test';
import { withFiles } from '../../../src/chats/attachments.js';
import { newChat, say } from '../../../src/chats/tree.js';
import { AttachedFiles } from '../../../src/ui/state/attached.js';
import { signal } from '@preact/signals';

const file = (/** @type {string} */ name, content = 'x') => new File([content], name);
const many = (/** @type {number} */ count) => Array.from({ length: count }, (_, at) => file(`f${at}`));
const chatOf = (/** @type {string} */ id) => say(newChat({ id }), 'Hello');
/** Files of the chat `shown`. */
function filesOf() {
  const shown = signal(chatOf('a'));
  return { shown, files: new AttachedFiles(() => shown.value) };
}
const names = (/** @type {AttachedFiles} */ files) => files.waiting.value.map(({ name }) => name);

test('files wait until they are sent or left out', async () => {
  const { files } = filesOf();
  await files.add([file('a', 'one'), file('b', 'two')]);
  files.remove(files.waiting.value[0]);
  assert.equal(files.preview('Look'), 'Look\n\nb:\n```\ntwo\n```');
  assert.equal(withFiles('Look', files.take()), 'Look\n\nb:\n```\ntwo\n```');
  assert.equal(files.preview('Look'), 'Look');
});

test('files belong to the chat that they were chosen in, and go with it', async () => {
  const { shown, files } = filesOf();
  await files.add([file('one')]);
  shown.value = chatOf('b');
  assert.deepEqual(names(files), []);
  await files.add([file('two')]);
  shown.value = chatOf('a');
  assert.deepEqual(names(files), ['one']);
  files.putBack('b', files.take());
  shown.value = chatOf('b');
  assert.deepEqual(names(files), ['one', 'two']);
  files.forget('b');
  assert.deepEqual(names(files), []);
});

test('what is read while another chat is opened is for the one that it was chosen in', async () => {
  const { shown, files } = filesOf();
  const reading = files.add([file('one')]);
  shown.value = chatOf('b');
  await reading;
  assert.deepEqual(names(files), []);
  shown.value = chatOf('a');
  assert.deepEqual(names(files), ['one']);
});

test('new chats share their files, as they share a draft', async () => {
  const { shown, files } = filesOf();
  shown.value = newChat({ id: 'new' });
  await files.add([file('one')]);
  shown.value = newChat({ id: 'another' });
  assert.deepEqual(names(files), ['one']);
});

test('of several that are chosen none is taken where one cannot be', async () => {
  const { files } = filesOf();
  await assert.rejects(files.add([file('a'), file('b', 'a\0b')]), { code: 'attachment_refused' });
  assert.deepEqual(files.waiting.value, []);
});

test('no more than eight go with a message, also where two choices are read at once', async () => {
  const { files } = filesOf();
  const read = await Promise.allSettled([files.add(many(5)), files.add(many(5))]);
  assert.deepEqual(read.map(({ status }) => status), ['fulfilled', 'rejected']);
  assert.equal(files.waiting.value.length, 5);
  files.putBack('a', files.waiting.value);
  assert.equal(files.waiting.value.length, 10);
  assert.throws(() => withFiles('Look', files.waiting.value), { code: 'attachment_refused' });
});

test('no more than sixty-four wait in all chats', async () => {
  const { shown, files } = filesOf();
  for (let at = 0; at < 8; at += 1) {
    shown.value = chatOf(`c${at}`);
    await files.add(many(8));
  }
  shown.value = chatOf('one more');
  await assert.rejects(files.add(many(1)), { code: 'attachment_refused' });
});
