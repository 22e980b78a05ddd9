import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Encoder } from '@msgpack/msgpack';
import { EXTENSION, Real, readMsgpack } from '../../src/protocol/msgpack.js';

const bigInts = new Encoder({ useBigInt64: true });

/** @param {unknown} value */
const encoded = (value) => bigInts.encode(value);

/** @param {...number} bytes */
const read = (...bytes) => readMsgpack(Uint8Array.from(bytes));

for (const value of [
  null, true, false, 0, 127, 128, 255, 256, 65_535, 65_536, 2 ** 32 - 1,
  -1, -32, -33, -128, -129, -32_768, -32_769, -(2 ** 31),
  '', 'a', 'é'.repeat(20), '😀'.repeat(100), 'x'.repeat(40_000),
  [], [1, [2, ['x']]], Array(1024).fill(0),
]) {
  test(`what the library writes is read back: ${JSON.stringify(value).slice(0, 40)}`, () => {
    assert.deepEqual(readMsgpack(encoded(value)), value);
  });
}

test('maps are read as maps, and a name of the language is a name like any other', () => {
  const map = readMsgpack(Uint8Array.of(0x81, 0xa9, ...Buffer.from('__proto__'), 0x01));
  assert.deepEqual(map, new Map([['__proto__', 1]]));
});

test('of two values under one key the last one counts', () => {
  assert.deepEqual(read(0x82, 0xa1, 0x61, 1, 0xa1, 0x61, 2), new Map([['a', 2]]));
});

test('bytes of every length are read back', () => {
  for (const length of [0, 1, 255, 256, 65_000]) {
    const bytes = new Uint8Array(length).fill(7);
    assert.deepEqual(readMsgpack(encoded(bytes)), bytes);
  }
});

test('whole numbers of 64 bits stay exact: numbers up to 2^53 - 1, then bigint', () => {
  for (const value of [2n ** 53n - 1n, -(2n ** 53n) + 1n]) {
    assert.equal(readMsgpack(encoded(value)), Number(value));
  }
  for (const value of [2n ** 53n, 2n ** 53n + 1n, 2n ** 64n - 1n, -(2n ** 53n), -(2n ** 63n)]) {
    assert.equal(readMsgpack(encoded(value)), value);
  }
});

test('a fraction is told from a whole number of its value', () => {
  assert.deepEqual(read(0xca, 0x3f, 0x80, 0, 0), new Real(1));
  assert.deepEqual(read(0xcb, 0x40, 0x04, 0, 0, 0, 0, 0, 0), new Real(2.5));
  assert.equal(read(0x01), 1);
});

test('extensions are passed over, whatever they hold', () => {
  for (const bytes of [[0xd4, 5, 0], [0xd8, 255, ...Array(16).fill(0)], [0xc7, 2, 1, 0, 0], [0xd6, 0xff, 0, 0, 0, 9]]) {
    assert.equal(read(...bytes), EXTENSION);
  }
});

for (const [what, bytes] of /** @type {[string, number[]][]} */ ([
  ['nothing', []],
  ['two values', [1, 2]],
  ['a reserved byte', [0xc1]],
  ['text cut short', [0xa3, 0x61]],
  ['text that is not UTF-8', [0xa2, 0xc3, 0x28]],
  ['half of a surrogate pair', [0xa3, 0xed, 0xa0, 0x80]],
  ['an overlong form', [0xa2, 0xc0, 0x80]],
  ['a length of 2^32 - 1', [0xdb, 0xff, 0xff, 0xff, 0xff]],
  ['a list of 2^32 - 1', [0xdd, 0xff, 0xff, 0xff, 0xff]],
  ['a map of 2^32 - 1', [0xdf, 0xff, 0xff, 0xff, 0xff]],
  ['a list of 1,025', [0xdc, 0x04, 0x01, ...Array(1025).fill(0xc0)]],
  ['a number for a key', [0x81, 1, 1]],
  ['nil for a key', [0x81, 0xc0, 1]],
  ['a number cut short', [0xcf, 0, 0]],
  ['a length cut short', [0xda, 0]],
  ['an extension cut short', [0xd8, 1, 0]],
])) {
  test(`${what} is refused`, () => {
    assert.throws(() => read(...bytes), { code: 'malformed_frame' });
  });
}

test('a byte order mark is text like any other', () => {
  assert.equal(read(0xa4, 0xef, 0xbb, 0xbf, 0x61), '\ufeffa');
});

test('a thousand lists in one another are read, one more is not', () => {
  const nested = (/** @type {number} */ depth) => read(...Array(depth - 1).fill(0x91), 0x90);
  assert.ok(Array.isArray(nested(1000)));
  assert.throws(() => nested(1001), { code: 'malformed_frame' });
});

test('a header full of heads of large lists costs no more than its bytes', () => {
  const bytes = new Uint8Array(65_536).fill(0xdc);
  for (let i = 1; i < bytes.length; i += 3) bytes.set([0x04, 0x00], i);
  assert.throws(() => readMsgpack(bytes), { code: 'malformed_frame' });
});
