import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newChat, reply, say } from '../../../../src/chats/tree.js';
import { turnParts } from '../../../../src/chats/brightness/turn_places.js';
import { TintedChat } from '../../../../src/ui/state/tint/tinted_chat.js';
import { placesIn, sharesIn } from '../../../../src/ui/state/tint/places.js';

/** System prompt, two questions in a row, a reply, a question. */
const chat = [
  (/** @type {any} */ before) => say(before, 'One.'), (/** @type {any} */ before) => say(before, 'Two words'),
  (/** @type {any} */ before) => reply(before, 'Yes. No!\nSo'), (/** @type {any} */ before) => say(before, 'End'),
].reduce((before, step) => step(before), newChat({ system: 'Be' }));

/** Tokens by hand: [message, at, length], one after the other, with one of the template before each message. */
const tokensOf = (/** @type {[number, number, number][]} */ parts) => {
  const column = (/** @type {number} */ i) => Int32Array.from(parts, (part) => part[i]);
  const start = Int32Array.from(parts, ([message], i) => i + 1 + message);
  return { positions: 20, start, stop: start.map((each) => each + 1), message: column(0), at: column(1), length: column(2) };
};
const TOKENS = tokensOf([[0, 0, 2], [1, 0, 4], [1, 4, 5], [1, 9, 6], [2, 0, 4], [2, 4, 4], [2, 8, 3], [3, 0, 3]]);

test('a turn of two messages is told apart into them', () => {
  assert.deepEqual(turnParts(chat), [
    [{ node: null, from: 0, at: 0, length: 2, whole: 2 }],
    [{ node: 'm1', from: 0, at: 0, length: 4, whole: 4 }, { node: 'm2', from: 6, at: 0, length: 9, whole: 9 }],
    [{ node: 'm3', from: 0, at: 0, length: 11, whole: 11 }],
    [{ node: 'm4', from: 0, at: 0, length: 3, whole: 3 }],
  ]);
});

test('what does not travel is in no turn', () => {
  const nodes = { ...chat.nodes, m2: { ...chat.nodes.m2, dropped: [[3, 5]] }, m3: { ...chat.nodes.m3, dropped: [[0, 11]] } };
  const parts = turnParts(/** @type {any} */ ({ ...chat, nodes }));
  assert.deepEqual(parts[1].slice(1), [
    { node: 'm2', from: 6, at: 0, length: 3, whole: 9 }, { node: 'm2', from: 9, at: 5, length: 4, whole: 9 },
  ]);
  assert.deepEqual([parts[2], parts.length], [[], 4]);
});

test('each token is a piece of the message that it wrote', () => {
  const tinted = new TintedChat(chat, TOKENS);
  const told = tinted.pieces.map(({ node, number }, i) => [node, number, tinted.textOf(i)]);
  assert.deepEqual(told, [
    [null, 0, 'Be'], ['m1', 1, 'One.'], ['m2', 2, 'Two'], ['m2', 2, ' words'], ['m3', 3, 'Yes.'], ['m3', 3, ' No!'],
    ['m3', 3, '\nSo'], ['m4', 4, 'End'],
  ]);
  assert.deepEqual([tinted.pieceAt('m2', 1), tinted.pieceAt('m2', 8), tinted.pieceAt('m2', 9), tinted.pieceAt('m9', 0)],
    [2, 3, -1, -1]);
  assert.deepEqual([tinted.next(0, 1), tinted.next(7, -1), tinted.next(7, 1)], [4, 6, -1]);
  assert.equal(tinted.turnStart, tinted.pieces[7].start);
});

test('what was looked at is told by sentence, the most first', () => {
  const tinted = new TintedChat(chat, TOKENS);
  const row = new Float32Array(12);
  row[0] = 0.5;
  for (const [piece, weight] of [[1, 0.0625], [4, 0.125], [6, 0.1875]]) row[tinted.pieces[piece].start] = weight;
  const shares = sharesIn(row, tinted);
  assert.deepEqual([shares.first, shares.template, shares.strongest].map((share) => Math.round(1e4 * share) / 1e4), [0.5714, 0, 0.2143]);
  const places = placesIn(shares, tinted, 2).map(({ number, role, text, from }) => [number, role, text, from]);
  assert.deepEqual(places, [[3, 'assistant', 'So', 9], [3, 'assistant', 'Yes.', 0]]);
});

test('a row of zeros has no places', () => {
  const tinted = new TintedChat(chat, TOKENS);
  assert.deepEqual(placesIn(sharesIn(new Float32Array(12), tinted), tinted, 8), []);
});
