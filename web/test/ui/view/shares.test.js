import assert from 'node:assert/strict';
import { test } from 'node:test';
import { levelOf, most, sharesOf } from '../../../src/ui/view/shares.js';

/** @type {any[]} */
const SPANS = [
  { text: '<s>', start: 0, stop: 1, kind: 'control' },
  { text: 'user', start: 1, stop: 2, kind: 'template' },
  { text: '☺', start: 2, stop: 4, kind: 'user' },
  { text: 'a', start: 4, stop: 5, kind: 'assistant' },
  { text: 'b', start: 5, stop: 6, kind: 'assistant' },
];

test('a span has the weights of all its tokens, and what is not a message\'s stands apart', () => {
  const row = Float32Array.of(0.5, 0.125, 0.0625, 0.0625, 0.25);
  const { spans, first, template, strongest } = sharesOf(row, SPANS);
  assert.deepEqual([...spans], [0, 0, 0.125, 0.25, 0]);
  assert.deepEqual([first, template, strongest], [0.5, 0.125, 0.25]);
});

test('a row that does not sum to 1 is made to, and one of zeros stays', () => {
  assert.deepEqual([...sharesOf(Float32Array.of(0, 0, 1, 0, 1), SPANS).spans], [0, 0, 0.5, 0.5, 0]);
  assert.equal(sharesOf(new Float32Array(5), SPANS).strongest, 0);
});

test('the first position counts for no span, also where it is of a message', () => {
  /** @type {any[]} */
  const plain = [{ text: 'a', start: 0, stop: 1, kind: 'user' }];
  assert.deepEqual(sharesOf(Float32Array.of(1), plain), { spans: Float64Array.of(0), first: 1, template: 0, strongest: 0 });
});

test('levels begin at 3, 8, 20 and 50 percent of the largest', () => {
  const shares = [0, 0.029, 0.03, 0.08, 0.2, 0.5, 1];
  assert.deepEqual(shares.map((share) => levelOf(share, 1)), [0, 0, 1, 2, 3, 4, 4]);
  assert.equal(levelOf(0, 0), 0);
});

test('the strongest come first, equal ones in order, those without weight never', () => {
  const shares = { spans: Float64Array.of(0.1, 0, 0.3, 0.1), first: 0, template: 0, strongest: 0.3 };
  assert.deepEqual(most(shares, 3), [2, 0, 3]);
  assert.deepEqual(most(shares, 9), [2, 0, 3]);
});
