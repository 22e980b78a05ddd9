import assert from 'node:assert/strict';
import { test } from 'node:test';
import { epsilonOfRelease } from '../../../src/noise/mechanism/discrete.js';
import { deltaOf, epsilonOf, muOf } from '../../../src/noise/mechanism/gaussian.js';
import { apart, vectors } from '../vectors.js';

const CLOSE = 1e-9;

test('epsilons, deltas and mus are those of the Python client', () => {
  for (const { delta, mu, epsilon, delta_of_half: ofHalf, mu_of_itself: itself } of vectors.gaussian) {
    const name = `delta ${delta}, mu ${mu}`;
    assert.ok(apart(epsilonOf(delta, mu), epsilon) < CLOSE, `epsilon at ${name}`);
    assert.ok(apart(deltaOf(mu / 2, mu), ofHalf) < CLOSE, `delta at ${name}`);
    assert.ok(apart(muOf(mu, delta), itself) < CLOSE, `mu at ${name}`);
  }
});

test('a mu that gives an epsilon gives it back, and the next larger one does not', () => {
  const mu = muOf(8, 1e-5);
  assert.ok(deltaOf(8, mu) <= 1e-5);
  assert.ok(deltaOf(8, mu * (1 + 1e-12)) > 1e-5);
});

test('what discrete noise adds is counted, and where nothing is proven epsilon is infinite', () => {
  for (const { delta, mu, values, epsilon } of vectors.release_epsilon) {
    const found = epsilonOfRelease(delta, mu, values);
    if (epsilon === null) assert.equal(found, Infinity);
    else assert.ok(apart(found, epsilon) < CLOSE);
  }
});

test('numbers for which no guarantee is defined are refused', () => {
  const all = [
    () => epsilonOf(0, 1), () => epsilonOf(1, 1), () => epsilonOf(0.1, NaN), () => muOf(0, 0.1),
    () => muOf(Infinity, 0.1), () => deltaOf(-1, 1), () => deltaOf(1, Infinity),
  ];
  for (const refused of all) {
    assert.throws(refused, { code: 'invalid_privacy_parameter' });
  }
});
