import assert from 'node:assert/strict';
import { test } from 'node:test';
import { roundTo } from '../../../src/protocol/floats.js';
import { AttentionRows, meanOf, rowOf, wholeRow } from '../../../src/engine/attention/rows.js';

/** A row that has all its weights. @param {number[]} weights */
const whole = (...weights) => ({
  width: weights.length, weights: Float32Array.from(weights), places: Int32Array.from(weights.keys()),
});

test('the mean over layers is made in float64 and rounded once', () => {
  const layers = Float32Array.of(1, 2 ** -24, 2 ** -24, 0, 2 ** -24, 0);
  const exact = (1 + 2 ** -24 + 2 ** -24) / 3;
  assert.deepEqual(meanOf(layers, 2), Float32Array.of(exact, 2 ** -24 / 3));
});

test('rows are found by the number of their token', () => {
  const rows = new AttentionRows();
  rows.add(whole(1));
  rows.add(whole(0.5, 0.5));
  assert.deepEqual([rows.first, rows.end], [0, 2]);
  assert.deepEqual([rows.at(1), rows.at(2), rows.at(-1)], [Float32Array.of(0.5, 0.5), null, null]);
});

test('the oldest rows give way to what has no room', () => {
  const rows = new AttentionRows(40);
  for (let length = 1; length <= 4; length++) rows.add(whole(...Array(length).fill(length)));
  assert.deepEqual([rows.first, rows.end], [3, 4]);
  assert.deepEqual([rows.at(2), rows.at(3)?.length], [null, 4]);
  rows.add(whole(...Array(50).fill(0)));
  assert.deepEqual([rows.first, rows.end], [4, 5]);
});

test('the average counts a token that was not there yet as not looked at', () => {
  const rows = new AttentionRows();
  assert.equal(rows.average(), null);
  rows.add(whole(1));
  rows.add(whole(0.25, 0.75));
  assert.deepEqual(rows.average(), Float32Array.of(0.625, 0.375));
});

test('a row of some positions has no weight elsewhere', () => {
  const told = { layers: 1, heads: 1, cached: 4, width: 2, weights: Float32Array.of(0.5, 0.25), positions: Int32Array.of(2, 0) };
  assert.deepEqual(wholeRow(rowOf(told)), Float32Array.of(0.25, 0, 0.5, 0));
  const rows = new AttentionRows();
  rows.add(whole(1, 0, 0));
  rows.add(rowOf(told));
  assert.deepEqual(rows.average(), Float32Array.of(0.625, 0, 0.25, 0));
  assert.deepEqual(rows.told(10), [
    { position: 10, positions: [0, 1, 2], weights: [1, 0, 0] }, { position: 11, positions: [2, 0], weights: [0.5, 0.25] },
  ]);
});

test('rows of layers become the largest weights of their mean, in half precision', () => {
  const weights = Float32Array.from({ length: 200 }, (_, i) => (i % 100) / 4950 + (i === 7 ? 2 ** -20 : 0));
  const row = rowOf({ layers: 2, heads: 1, cached: 100, width: 100, weights, positions: null });
  assert.deepEqual([row.weights.length, row.places[0], row.places[75]], [76, 99, 24]);
  assert.equal(row.weights[0], roundTo('f16', Float32Array.of(99 / 4950))[0]);
});

test('what lies far back is a share of what does not lie on the first position', () => {
  const rows = new AttentionRows();
  rows.add(whole(0.5, 0.125, 0.375));
  rows.add({ width: 9, weights: Float32Array.of(0.25, 0.5), places: Int32Array.of(7, 0) });
  rows.add(whole(1));
  assert.deepEqual([...rows.sharesBefore(2)], [0.25, 0, 0]);
});
