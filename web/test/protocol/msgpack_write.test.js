import assert from 'node:assert/strict';
import { test } from 'node:test';
import { encode } from '@msgpack/msgpack';
import { writeMsgpack } from '../../src/protocol/msgpack_write.js';

const EDGES = [0, 127, 128, 255, 256, 65_535, 65_536, 2 ** 32 - 1, 2 ** 32, Number.MAX_SAFE_INTEGER];
const LENGTHS = [0, 1, 15, 16, 31, 32, 255, 256, 65_535, 65_536];

test('whole numbers are written as the library writes them', () => {
  for (const value of EDGES) assert.deepEqual(writeMsgpack(value), encode(value), String(value));
});

test('fractions are written in double precision', () => {
  for (const value of [0.1, -2.5, 1e300, Infinity]) assert.deepEqual(writeMsgpack(value), encode(value), String(value));
});

test('text, bytes, lists and maps of every length are written as the library writes them', () => {
  for (const length of LENGTHS) {
    const text = 'é'.repeat(length / 2) + 'x'.repeat(length % 2);
    const list = Array(length).fill(1);
    const map = Object.fromEntries(list.map((_, i) => [`key ${i}`, i]));
    for (const value of [text, new Uint8Array(length).fill(7), list, map]) {
      assert.ok(Buffer.from(writeMsgpack(value)).equals(encode(value)), `${length} of ${typeof value}`);
    }
  }
});

test('values in one another are written in order, and what is undefined as null', () => {
  const value = { type: 'step', flags: [true, false, null], about: { a: [[]], b: undefined, ü: new Uint8Array(2) } };
  assert.deepEqual(writeMsgpack(value), encode(value));
});
