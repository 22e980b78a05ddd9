import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import { forgetHostToken, loadHostToken, storeHostToken } from '../../src/pairing/host_tokens.js';

const TOKEN = 'a-token-of-16-bytes';
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

test('each host has a token of its own, and forgetting leaves the others', () => {
  storeHostToken('http://a', TOKEN);
  storeHostToken('http://b', `${TOKEN}-b`);
  assert.deepEqual(['http://a', 'http://b', 'http://c', null].map(loadHostToken), [TOKEN, `${TOKEN}-b`, null, null]);
  forgetHostToken('http://a');
  assert.deepEqual(['http://a', 'http://b'].map(loadHostToken), [null, `${TOKEN}-b`]);
  forgetHostToken('http://b');
  assert.equal(kept.size, 0);
});

test('what is damaged, or no token, counts as none', () => {
  for (const text of ['', 'x', '[]', 'null', '{"http://a": 1}', '{"http://a": "two words and more"}', '{"__proto__": "x"}']) {
    kept.set('gatelink.adapter-hosts', text);
    assert.equal(loadHostToken('http://a'), null, text);
    assert.equal(loadHostToken('__proto__'), null, text);
  }
  storeHostToken('http://a', TOKEN);
  assert.equal(loadHostToken('http://a'), TOKEN);
});

test('a browser without storage has no tokens, and says so when one is to be kept', () => {
  Object.defineProperty(globalThis, 'localStorage', { value: undefined, configurable: true });
  assert.equal(loadHostToken('http://a'), null);
  forgetHostToken('http://a');
  assert.throws(() => storeHostToken('http://a', TOKEN), { code: 'token_not_kept' });
});

test('at most 64 are kept, the newest', () => {
  for (let i = 0; i < 70; i++) storeHostToken(`http://h${i}`, TOKEN);
  assert.equal(loadHostToken('http://h5'), null);
  assert.equal(loadHostToken('http://h6'), TOKEN);
  assert.equal(loadHostToken('http://h69'), TOKEN);
});
