import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AttentionRows, meanOverLayers } from '../../../src/engine/attention/rows.js';

test('the mean over layers is made in float64 and rounded once', () => {
  const layers = Float32Array.of(1, 2 ** -24, 2 ** -24, 0, 2 ** -24, 0);
  const exact = (1 + 2 ** -24 + 2 ** -24) / 3;
  assert.deepEqual(meanOverLayers(layers, 2), Float32Array.of(exact, 2 ** -24 / 3));
});

test('rows are found by the number of their token', () => {
  const rows = new AttentionRows();
  rows.add(Float32Array.of(1));
  rows.add(Float32Array.of(0.5, 0.5));
  assert.deepEqual([rows.first, rows.end], [0, 2]);
  assert.deepEqual([rows.at(1), rows.at(2), rows.at(-1)], [Float32Array.of(0.5, 0.5), null, null]);
});

test('the oldest rows give way to what has no room', () => {
  const rows = new AttentionRows(20);
  for (let length = 1; length <= 4; length++) rows.add(new Float32Array(length).fill(length));
  assert.deepEqual([rows.first, rows.end], [3, 4]);
  assert.deepEqual([rows.at(2), rows.at(3)?.length], [null, 4]);
  rows.add(new Float32Array(50));
  assert.deepEqual([rows.first, rows.end], [4, 5]);
});

test('the average counts a token that was not there yet as not looked at', () => {
  const rows = new AttentionRows();
  assert.equal(rows.average(), null);
  rows.add(Float32Array.of(1));
  rows.add(Float32Array.of(0.25, 0.75));
  assert.deepEqual(rows.average(), Float32Array.of(0.625, 0.375));
});
