import assert from 'node:assert/strict';
import { test } from 'node:test';
import { messagesWith } from '../../../../src/ui/view/messages/found.js';

const nodes = /** @type {any[]} */ ([
  { id: 'm1', role: 'user', content: 'What is **bold**?' },
  { id: 'm2', role: 'assistant', content: 'The word **bold** text, in STRASSE.' },
]);

test('words are found as they are read, in any case', async () => {
  assert.deepEqual(await messagesWith(nodes, 'BOLD TEXT'), ['m2']);
  assert.deepEqual(await messagesWith(nodes, 'straße'), ['m2']);
  assert.deepEqual(await messagesWith(nodes, '**bold**'), ['m1']);
  assert.deepEqual(await messagesWith(nodes, '  '), []);
});

test('a long chat is gone through in slices, as long as anybody wants to know', async () => {
  const many = Array.from({ length: 100 }, (_, at) => ({ ...nodes[1], id: `m${at}` }));
  let [clock, rests] = [0, 0];
  const how = { now: () => (clock += 1), breathe: async () => void (rests += 1) };
  assert.equal((await messagesWith(many, 'bold', how))?.length, 100);
  assert.ok(rests > 5 && rests < 50);
  assert.equal(await messagesWith(many, 'bold', { ...how, wanted: () => false }), null);
});
