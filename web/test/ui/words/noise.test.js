import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  budgetWords, epsilonWords, inTheWay, lossRows, mechanismWords, readPositive,
} from '../../../src/ui/words/noise.js';

test('an epsilon is rounded up, and where nothing is proven that is said', () => {
  assert.deepEqual([7.001, 8, 0, 55.700000000000003].map(epsilonWords), ['7.01', '8.00', '0.00', '55.70']);
  assert.match(epsilonWords(Infinity), /without bound/);
});

test('both units say how often and how many', () => {
  const rows = lossRows({ rows: 1200, sendings: 3, token: 14.2, whole: Infinity });
  assert.deepEqual(rows[0], ['One token replaced, sent up to 3 times', '14.20']);
  assert.deepEqual(rows[1], ['All 1,200 rows replaced', 'without bound (too little noise)']);
  assert.equal(lossRows({ rows: 1, sendings: 1, token: 1, whole: 1 })[1][0], 'The one row replaced');
});

test('which sensitivity it is, is said', () => {
  const status = /** @type {any} */ ({ clip: 2, sigma: 1, width: 8, sensitivity: 4, exact: false });
  assert.match(mechanismWords(status), /sensitivity 4: no two clipped rows are farther apart/);
  assert.match(mechanismWords({ ...status, exact: true }), /the largest distance between two clipped rows/);
});

test('a budget says what is spent and what is left', () => {
  assert.equal(budgetWords({ epsilon: 50, spent: 12.3, room: 17 }), '12.30 of 50.00 spent, room for 17 more rows');
  assert.match(budgetWords({ epsilon: 50, spent: 0, room: 1_000_000 }), /over 1,000,000/);
});

test('numbers above 0 are read, with a comma too, and nothing where that is allowed', () => {
  assert.deepEqual(readPositive(' 0,5 '), { value: 0.5 });
  assert.deepEqual(readPositive('1e-5', { below: 1 }), { value: 1e-5 });
  assert.deepEqual(readPositive('', { empty: true }), { value: null });
  for (const wrong of ['', '0', '-1', 'x', 'Infinity', '1e400']) assert.ok('problem' in readPositive(wrong), wrong);
  assert.ok('problem' in readPositive('1', { below: 1 }));
});

test('a comma that may part thousands is asked about, because a thousandth of sigma is hardly any noise', () => {
  for (const unclear of ['1,000', '12,500', '1,000,000', '1,234.5', '0x10', '1 000']) {
    assert.ok('problem' in readPositive(unclear), unclear);
  }
  assert.match(/** @type {any} */ (readPositive('1,000')).problem, /without a comma/);
  assert.deepEqual([readPositive('0,125'), readPositive('1,5')], [{ value: 0.125 }, { value: 1.5 }]);
  assert.deepEqual(readPositive('1e3'), { value: 1000 });
});

test('what stands against noise is said before a message is sent', () => {
  assert.deepEqual(inTheWay({ repetition_penalty: null }, 'banking'), []);
  assert.deepEqual(inTheWay({ repetition_penalty: 1 }, null), []);
  assert.equal(inTheWay({ repetition_penalty: 1.1 }, 'auto').length, 2);
  assert.equal(inTheWay({ repetition_penalty: null }, 'auto@http://host:8097').length, 1);
  assert.deepEqual(inTheWay({ repetition_penalty: null }, 'banking@http://host:8097'), []);
});
