import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Budget, Spent } from '../../../src/noise/ledger/spent.js';
import { apart, vectors } from '../vectors.js';

const KIND = { sigma: 1.5, distance: 2, width: 192 };

test('losses of tokens and of everything are those of the Python client', () => {
  for (const { entries, delta, whole, token } of vectors.spent) {
    const spent = Spent.total(entries);
    for (const [found, expected] of [[spent.epsilon(delta), whole], [spent.tokenEpsilon(delta), token]]) {
      assert.ok(expected === null ? found === Infinity : apart(found, expected) < 1e-9, JSON.stringify(entries));
    }
  }
});

test('a budget has room for as many rows as in the Python client', () => {
  for (const { entries, epsilon, room } of vectors.room) {
    assert.equal(new Budget(epsilon, 1e-5).room(Spent.total(entries), KIND, 5000), room);
  }
});

test('nothing spent is a loss of nothing, and what is given back leaves what was before', () => {
  const before = new Spent().plus(KIND, { rows: 3, sendings: 1 });
  assert.equal(new Spent().epsilon(1e-5), 0);
  assert.deepEqual(before.plus(KIND, { rows: 5 }).plus(KIND, { rows: -5 }).entries, before.entries);
  assert.equal(before.plus({ ...KIND, sigma: 2 }, { rows: 4 }).rows, 7);
  assert.equal(before.rowsOf(KIND), 3);
});
