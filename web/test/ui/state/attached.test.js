import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AttachedFiles } from '../../../src/ui/state/attached.js';

const file = (/** @type {string} */ name, content = 'x') => new File([content], name);

test('files wait until they are sent or left out', async () => {
  const files = new AttachedFiles();
  await files.add([file('a', 'one'), file('b', 'two')]);
  files.remove(files.waiting.value[0]);
  assert.equal(files.with('Look'), 'Look\n\nb:\n```\ntwo\n```');
  files.clear();
  assert.equal(files.with('Look'), 'Look');
});

test('of several that are chosen none is taken where one cannot be', async () => {
  const files = new AttachedFiles();
  await assert.rejects(files.add([file('a'), file('b', 'a\0b')]), { code: 'attachment_refused' });
  assert.deepEqual(files.waiting.value, []);
});

test('no more than eight go with a message, also where two choices are read at once', async () => {
  const files = new AttachedFiles();
  const five = () => files.add(['a', 'b', 'c', 'd', 'e'].map((name) => file(name)));
  const read = await Promise.allSettled([five(), five()]);
  assert.deepEqual(read.map(({ status }) => status), ['fulfilled', 'rejected']);
  assert.equal(files.waiting.value.length, 5);
});
