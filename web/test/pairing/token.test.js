import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import { forgetToken, loadToken, storeToken } from '../../src/pairing/token.js';
import { KEY, routingId } from '../../src/settings/routing_id.js';

/** @type {Map<string, string>} */
let kept;

beforeEach(() => {
  kept = new Map();
  const storage = {
    getItem: (/** @type {string} */ key) => kept.get(key) ?? null,
    setItem: (/** @type {string} */ key, /** @type {string} */ value) => void kept.set(key, value),
    removeItem: (/** @type {string} */ key) => void kept.delete(key),
  };
  Object.defineProperty(globalThis, 'localStorage', { value: storage, configurable: true });
});
afterEach(() => {
  Object.defineProperty(globalThis, 'localStorage', { value: undefined, configurable: true });
});

test('a pairing, and its end, have this browser take another routing id', () => {
  const ids = [routingId()];
  storeToken('a-token-of-16-bytes');
  assert.equal(loadToken(), 'a-token-of-16-bytes');
  ids.push(routingId());
  forgetToken();
  assert.equal(kept.has(KEY), false);
  ids.push(routingId());
  assert.equal(new Set(ids).size, 3);
});
