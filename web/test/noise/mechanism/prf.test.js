import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RowStreams, histories } from '../../../src/noise/mechanism/prf.js';
import { KEY, MODEL, TOKENS, hexOf, vectors } from '../vectors.js';

const CONTEXT = { key: KEY, layer: 'embedding', sigma: 1.5, clip: 0.1, model: MODEL, codec: 'f32' };
const before = histories(TOKENS);
const rows = TOKENS.map((token, position) => ({ position, token, history: before[position] }));

test('histories are those of the Python client', () => {
  assert.deepEqual(before.map(hexOf), vectors.histories);
});

test('names, words and further bits of every dtype are those of the Python client', () => {
  for (const { codec, names, words, more } of vectors.streams) {
    const streams = new RowStreams({ ...CONTEXT, codec });
    assert.deepEqual(rows.map((row) => hexOf(streams.name(row))), names);
    assert.deepEqual(rows.map((row) => hexOf(streams.words(row, 4))), words);
    assert.deepEqual(rows.map((row) => streams.more(row, 70000, 192).toString(16)), more);
  }
});

test('every field of the context and of the row changes the words', () => {
  const words = (/** @type {object} */ context = {}, /** @type {object} */ row = {}) =>
    hexOf(new RowStreams({ ...CONTEXT, ...context }).words({ ...rows[1], ...row }, 8));
  const changes = [{ key: new Uint8Array(32) }, { layer: 'hidden' }, { sigma: 1.5000000000000002 },
    { clip: 0.10000000000000002 }, { model: 'ac'.repeat(32) }, { codec: 'f16' }];
  const places = [{ position: 2 }, { token: 1 }, { history: new Uint8Array(32) }];
  const all = [words(), ...changes.map((change) => words(change)), ...places.map((place) => words({}, place))];
  assert.equal(new Set(all).size, 1 + changes.length + places.length);
});

test('a key of another length and a sigma that is none are refused without telling the key', () => {
  assert.throws(() => new RowStreams({ ...CONTEXT, key: new Uint8Array(31).fill(77) }), (/** @type {any} */ error) =>
    error.code === 'invalid_derivation' && !/77|4d/.test(error.message));
  for (const sigma of [0, NaN, Infinity]) {
    assert.throws(() => new RowStreams({ ...CONTEXT, sigma }), { code: 'invalid_derivation' });
  }
});
