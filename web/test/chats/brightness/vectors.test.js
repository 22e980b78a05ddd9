import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import * as formula from '../../../src/chats/brightness/formula.js';
import { rowOf } from '../../../src/chats/brightness/rows.js';
import { kept, partOf, valuesIn } from '../../../src/chats/brightness/runs.js';

const VECTORS = JSON.parse(readFileSync(new URL('../../../../tests/vectors/brightness.json', import.meta.url), 'utf8'));

/** @param {[number, number][]} runs @returns {number[]} */
const spread = (runs) => runs.flatMap(([count, value]) => Array(count).fill(value));

test('the numbers of the rule are Python\'s', () => {
  const { ONE, MOST_POSITIONS, BRIGHTEST, BORN, UNIFORM, MOST_VOTE, GAIN, NEAR, FALL } = formula;
  assert.deepEqual(VECTORS.rule, {
    one: ONE, most_positions: MOST_POSITIONS, brightest: BRIGHTEST, born: BORN, uniform: UNIFORM, most_vote: MOST_VOTE,
    gain: GAIN, near: NEAR, fall: FALL,
  });
});

for (const { name, mode, values, positions, length, expected } of VECTORS.rows) {
  test(`as whole numbers: ${name}`, () => {
    const weights = Float32Array.from(values.flat(2));
    const places = positions && Int32Array.from(positions.flat(2));
    const row = rowOf(mode, { layers: values.length, heads: values[0].length, weights, positions: places }, length);
    assert.deepEqual([Array.from(row.positions), Array.from(row.shares)], [expected.positions, expected.shares]);
  });
}

for (const { name, count, rows } of VECTORS.looks) {
  test(`brightness of ${name}`, () => {
    const brightness = new Int32Array(count).fill(formula.BORN);
    for (const row of rows) {
      assert.deepEqual(formula.votes(row), row.votes);
      formula.look(brightness, row);
      assert.deepEqual([...brightness], spread(row.brightness));
    }
  });
}

for (const { name, values, text } of VECTORS.runs) {
  test(`kept: ${name}`, () => {
    const all = Uint16Array.from(spread(values));
    assert.equal(kept(all), text);
    assert.deepEqual(valuesIn(text, all.length), all);
  });
}

for (const { name, text, length } of VECTORS.refused) {
  test(`refused: ${name}`, () => {
    assert.throws(() => valuesIn(text, length), { code: 'brightness_invalid' });
  });
}

test('a part is as bright as the brightest quarter of its code points', () => {
  for (const { values, start, stop, expected } of VECTORS.parts) {
    assert.equal(partOf(Uint16Array.from(values), start, stop), expected);
  }
});

for (const [what, weights, positions, length] of /** @type {[string, number[], number[] | null, number][]} */ ([
  ['a row of another length', [0.5, 0.5], null, 3], ['a weight that is no number', [NaN, 0.5], null, 2],
  ['an infinite weight', [Infinity, 0], null, 2], ['a weight below 0', [-0.5, 1], null, 2],
  ['fewer positions than weights', [0.5, 0.5], [0], 2], ['no weights', [], null, 0],
])) {
  test(`${what} is refused with words`, () => {
    const told = { layers: 1, heads: 1, weights: Float32Array.from(weights), positions: positions && Int32Array.from(positions) };
    assert.throws(() => rowOf('mean', told, length), { code: 'brightness_invalid' });
  });
}

test('a row over fewer positions than there are tokens is refused', () => {
  const row = { positions: [0], shares: [1], length: 1 };
  assert.throws(() => formula.look(new Int32Array(2), row), { code: 'brightness_invalid' });
});

test('a token of a long context costs less than a millisecond', () => {
  const positions = Int32Array.from({ length: 80 }, (_, i) => 50 * i);
  const weights = new Float32Array(80).fill(1 / 80);
  const brightness = new Int32Array(4096);
  const times = Array.from({ length: 50 }, () => {
    const began = process.cpuUsage();
    for (let i = 0; i < 10; i++) formula.look(brightness, rowOf('mean', { layers: 1, heads: 1, weights, positions }, 4097));
    const { user, system } = process.cpuUsage(began);
    return (user + system) / 10_000;
  });
  assert.ok(Math.min(...times) < 1, `${Math.min(...times)} ms`);
});
