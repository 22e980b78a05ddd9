import assert from 'node:assert/strict';
import { test } from 'node:test';
import { exportChat, importChat } from '../../../src/chats/documents.js';
import { brightnessOfTurns, keptUnits, unitBrightness, unitsOf, withBrightness } from '../../../src/chats/brightness/kept.js';
import { turnParts } from '../../../src/chats/brightness/turn_places.js';
import { editMessage, newChat, reply, say, selectSibling } from '../../../src/chats/tree.js';

const CONTENT = 'a👩‍🚀b';

/** A chat of three messages whose first ones have a brightness. */
function brightened() {
  const chat = say(reply(say(newChat({ system: 'Be' }), CONTENT), 'Yes'), 'More');
  const turns = [new Uint16Array(2).fill(3), new Uint16Array(CONTENT.length).fill(9), new Uint16Array(3).fill(500), null];
  return withBrightness(chat, turnParts(chat), turns);
}

test('brightness is kept by code point, and worked with by UTF-16 unit', () => {
  const units = Uint16Array.from({ length: CONTENT.length }, (_, i) => i);
  assert.deepEqual([...unitsOf(CONTENT, keptUnits(CONTENT, units))], [0, 1, 1, 3, 4, 4, 6]);
});

test('what cannot be the brightness of a content counts as none', () => {
  for (const text of ['x', 'AQABAA==', undefined, /** @type {any} */ (7)]) {
    assert.deepEqual([...unitsOf('ab', text)], [32768, 32768]);
  }
});

test('a turn of several messages has the brightness of each, and the whole outlasts its document', () => {
  const chat = brightened();
  assert.deepEqual(brightnessOfTurns(chat).map((units) => units[0]), [3, 9, 500, 32768]);
  const again = importChat(exportChat(chat));
  assert.deepEqual(brightnessOfTurns(again), brightnessOfTurns(chat));
  const { tree: _, ...terminal } = JSON.parse(exportChat(chat));
  assert.deepEqual(brightnessOfTurns(importChat(JSON.stringify(terminal))), brightnessOfTurns(chat));
  const two = say(chat, 'And');
  assert.deepEqual([...brightnessOfTurns(two)[3]], Array(9).fill(32768));
});

test('branches keep what they share', () => {
  const chat = editMessage(brightened(), 'm3', 'Other');
  assert.deepEqual(brightnessOfTurns(chat).map((units) => units[0]), [3, 9, 500, 32768]);
  assert.deepEqual(brightnessOfTurns(selectSibling(chat, 'm4', -1)).length, 4);
});

test('a unit is as bright as its brightest quarter', () => {
  const chat = brightened();
  assert.deepEqual([unitBrightness(chat, 'm1', { from: 0, to: 3 }), unitBrightness(chat, null, { from: 0, to: 2 })], [9, 3]);
  assert.equal(unitBrightness(chat, 'm3', { from: 0, to: 4 }), 32768);
});

test('a message that has changed meanwhile keeps what it has', () => {
  const chat = brightened();
  const other = { ...chat, nodes: { ...chat.nodes, m1: { ...chat.nodes.m1, content: 'b' } } };
  const after = withBrightness(other, turnParts(chat), [null, new Uint16Array(CONTENT.length), null, null]);
  assert.equal(after.nodes.m1, other.nodes.m1);
});

for (const brightness of [7, '', 'AAAB', 'AgABAA==', 'x'.repeat(1000), null, []]) {
  test(`a file with the brightness ${JSON.stringify(brightness).slice(0, 12)} is refused with words`, () => {
    const document = JSON.parse(exportChat(brightened()));
    for (const change of [(/** @type {any} */ at) => at.messages[1], (/** @type {any} */ at) => at.tree.nodes[0]]) {
      const hostile = structuredClone(document);
      change(hostile).brightness = brightness;
      assert.throws(() => importChat(JSON.stringify(hostile)), { code: 'conversation_file_invalid', message: /'brightness' of/ });
    }
  });
}
