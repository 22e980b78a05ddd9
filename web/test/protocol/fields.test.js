import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Fields } from '../../src/protocol/fields.js';
import { Real } from '../../src/protocol/msgpack.js';

/** @param {unknown} value */
const field = (value) => new Fields(new Map([['x', value]]));
const MISSING = new Fields(new Map());
const REFUSED = { code: 'malformed_message', message: /'x'/ };

test('a text has at most 200 characters, and one beyond 16 bits is one', () => {
  for (const text of ['', 'a'.repeat(200), '😀'.repeat(200)]) assert.equal(field(text).text('x'), text);
  for (const value of ['a'.repeat(201), '😀'.repeat(201), 7, null, undefined, new Uint8Array(1)]) {
    assert.throws(() => field(value).text('x'), REFUSED);
  }
});

test('a whole number is neither a boolean, a fraction, nor beyond 2^53 - 1', () => {
  for (const value of [0, 1, 2 ** 53 - 1]) assert.equal(field(value).count('x'), value);
  for (const value of [true, new Real(1), -1, 2n ** 53n, '1', null]) {
    assert.throws(() => field(value).count('x'), REFUSED);
  }
  assert.throws(() => field(5).count('x', 4), REFUSED);
});

test('seconds are a whole number or a fraction from 0 to a billion', () => {
  assert.equal(field(3).optionalSeconds('x'), 3);
  assert.equal(field(new Real(2.5)).optionalSeconds('x'), 2.5);
  for (const value of [true, -1, 1e9, 2n ** 60n, new Real(NaN), new Real(Infinity), new Real(-0.1), '1']) {
    assert.throws(() => field(value).optionalSeconds('x'), REFUSED);
  }
});

test('what is optional is missing when it is nil', () => {
  for (const fields of [field(null), MISSING]) {
    assert.equal(fields.optionalText('x'), null);
    assert.equal(fields.optionalCount('x'), 0);
    assert.equal(fields.optionalSeconds('x'), null);
    assert.equal(fields.flag('x'), false);
    assert.equal(fields.printable('x', 9), '');
    assert.deepEqual(fields.texts('x'), []);
    assert.deepEqual(fields.optionalDigest('x', 16), new Uint8Array(0));
  }
});

test('a code is a word of small letters, digits and underscores', () => {
  assert.equal(field('cache_full2').code('x'), 'cache_full2');
  for (const value of ['', 'A', 'a b', 'a\n', 'x'.repeat(65), 7]) {
    assert.throws(() => field(value).code('x'), REFUSED);
  }
});

test('text for people loses what a screen would act on, and its end', () => {
  const hostile = 'a\x1b[2J\u202eb\u200b\u00a0c\nd';
  assert.equal(field(hostile).printable('x', 1000), 'a [2J b  c d');
  assert.equal(field('😀😀😀').printable('x', 2), '😀😀');
});

test('a flag is a boolean and nothing else', () => {
  assert.equal(field(true).flag('x'), true);
  for (const value of [1, 'true', new Real(1)]) assert.throws(() => field(value).flag('x'), REFUSED);
});

test('a digest has its length', () => {
  assert.equal(field(new Uint8Array(16)).digest('x', 16).length, 16);
  for (const value of [new Uint8Array(15), 'x'.repeat(16), null]) {
    assert.throws(() => field(value).digest('x', 16), REFUSED);
  }
});
