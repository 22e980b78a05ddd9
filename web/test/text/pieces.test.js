import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Pieces } from '../../src/text/pieces.js';

const CONTROL = 256;

/** Ids below 256 are bytes of UTF-8. */
const bytes = {
  stream: () => {
    const decoder = new TextDecoder();
    return {
      push: (/** @type {number} */ id) => (id < CONTROL ? decoder.decode(Uint8Array.of(id), { stream: true }) : ''),
      flush: () => decoder.decode(),
    };
  },
  control: (/** @type {number} */ id) => (id === CONTROL ? '<end>' : null),
};

/** @param {number[]} ids */
function piecesOf(ids) {
  const pieces = new Pieces(bytes);
  return [...ids.map((id) => pieces.push(id)), pieces.flush()].filter((piece) => piece !== null);
}

test('tokens that share a character are one piece, which has no half of it', () => {
  const ids = [...new TextEncoder().encode('a☺b'), CONTROL];
  assert.deepEqual(piecesOf(ids), [
    { text: 'a', start: 0, stop: 1, control: false },
    { text: '☺', start: 1, stop: 4, control: false },
    { text: 'b', start: 4, stop: 5, control: false },
    { text: '<end>', start: 5, stop: 6, control: true },
  ]);
});

test('a character that never ends is a replacement character of all its tokens', () => {
  const [half] = piecesOf([0xe2, 0x98]);
  assert.deepEqual(half, { text: '\ufffd', start: 0, stop: 2, control: false });
});

test('a token without any text belongs to the piece behind it', () => {
  assert.deepEqual(piecesOf([300, 97]), [{ text: 'a', start: 0, stop: 2, control: false }]);
});
