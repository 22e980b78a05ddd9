import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BORN, FALL, look } from '../../../src/chats/brightness/formula.js';
import { rowOf } from '../../../src/chats/brightness/rows.js';
import { Gathering } from '../../../src/engine/attention/gathering.js';

/** @param {number} start @param {string} text @param {any} [about] */
const span = (start, text, about = {}) => ({ start, stop: start + 1, text, kind: about.message === undefined ? 'template' : 'user', ...about });

/** `<s>ab` and `cd` of two messages, then the turn that is answered. */
const SPANS = /** @type {any} */ ([
  span(0, '<s>'), span(1, 'a', { message: 0, at: 1 }), span(2, 'b', { message: 0, at: 2 }), span(3, '|'),
  span(4, 'cd', { message: 1, at: 0 }), span(5, '|'), span(6, 'turn', { message: 2, at: 0 }), span(7, '|'),
]);
const born = (/** @type {number} */ length) => new Uint16Array(length).fill(BORN);
const ROW = { width: 8, weights: Float32Array.of(0.5, 0.25, 0.25), places: Int32Array.of(0, 4, 6) };

test('what is looked at grows bright, all else before the turn dim, and white space around a message keeps what it had', () => {
  const gathering = new Gathering(SPANS, [born(4), born(2), born(4)]);
  gathering.look(ROW);
  const expected = new Int32Array(6).fill(BORN);
  look(expected, rowOf('mean', { layers: 1, heads: 1, weights: ROW.weights, positions: ROW.places }, 8));
  const [first, second, turn] = gathering.told();
  assert.deepEqual([...(first ?? [])], [BORN, BORN - FALL, BORN - FALL, BORN]);
  assert.ok(expected[4] > BORN);
  assert.deepEqual([...(second ?? []), turn], [expected[4], expected[4], null]);
});

test('it goes on from what was gathered before; a token is as bright as its brightest character', () => {
  const gathering = new Gathering(SPANS, [Uint16Array.of(7, 1000, 2000, 7), Uint16Array.of(10, 5000), born(4)]);
  gathering.look({ width: 8, weights: Float32Array.of(1), places: Int32Array.of(0) });
  const [first, second] = gathering.told();
  assert.deepEqual([[...(first ?? [])], [...(second ?? [])]], [[7, 1000 - FALL, 2000 - FALL, 7], [5000 - FALL, 5000 - FALL]]);
});

test('where the turn cannot be found nothing is gathered', () => {
  const gathering = new Gathering(SPANS.slice(0, 5), [born(4), born(2), born(4)]);
  gathering.look(ROW);
  assert.deepEqual(gathering.told(), [born(4), born(2), null]);
});
