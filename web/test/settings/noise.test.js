import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FIRST_NOISE, noiseWish } from '../../src/settings/noise.js';
import { isNoise, noiseIn } from '../../src/settings/noise_check.js';
import { checkedSettings } from '../../src/settings/settings.js';

test('noise has one of epsilon and sigma, and numbers that noise can be made of', () => {
  assert.ok(isNoise(FIRST_NOISE));
  assert.ok(isNoise({ ...FIRST_NOISE, epsilon: null, sigma: 0.5, clip: 3, budget: 50, on: false }));
  for (const wrong of [{ sigma: 1 }, { epsilon: null }, { epsilon: 0 }, { delta: 1 }, { delta: null }, { clip: -1 },
    { budget: Infinity }, { budget: '5' }, { on: 1 }]) {
    assert.ok(!isNoise({ ...FIRST_NOISE, ...wrong }), JSON.stringify(wrong));
  }
  for (const none of [null, undefined, 'on', []]) assert.ok(!isNoise(none));
});

test('only noise that is on goes to the engine, without the switch', () => {
  assert.equal(noiseWish(null), null);
  assert.equal(noiseWish(undefined), null);
  assert.equal(noiseWish({ ...FIRST_NOISE, on: false }), null);
  assert.deepEqual(noiseWish(FIRST_NOISE), { epsilon: 8, sigma: null, delta: 1e-5, clip: null, budget: null });
});

test('what is read of a stranger has no other fields', () => {
  assert.deepEqual(noiseIn({ ...FIRST_NOISE, key: 'secret' }), { ...FIRST_NOISE });
  assert.equal(noiseIn({ ...FIRST_NOISE, delta: 2 }), null);
});

test('settings keep noise that can be, and none is the default', () => {
  assert.equal(checkedSettings({}).noise, null);
  assert.deepEqual(checkedSettings({ noise: { ...FIRST_NOISE } }).noise, FIRST_NOISE);
  assert.equal(checkedSettings({ noise: { ...FIRST_NOISE, epsilon: -1 } }).noise, null);
});
