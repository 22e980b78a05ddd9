import assert from 'node:assert/strict';
import { afterEach, test } from 'node:test';
import { KEY } from '../../src/settings/cache_salt.js';

/** A page that opens; each has the module anew. */
async function opened() {
  pages += 1;
  return (await import(`../../src/settings/cache_salt.js?page=${pages}`)).cacheSalt;
}
let pages = 0;

/** @param {Record<string, string>} kept @param {boolean} [writes] */
function browserWith(kept, writes = true) {
  globalThis.localStorage = /** @type {any} */ ({
    getItem: (/** @type {string} */ key) => kept[key] ?? null,
    setItem: (/** @type {string} */ key, /** @type {string} */ value) => {
      if (!writes) throw new Error('full');
      kept[key] = value;
    },
  });
  return kept;
}

afterEach(() => Reflect.deleteProperty(globalThis, 'localStorage'));

test('a browser has one salt, of 16 random bytes, for all of its pages', async () => {
  const kept = browserWith({});
  const salt = (await opened())();
  assert.match(salt, /^[0-9a-f]{32}$/);
  assert.equal(kept[KEY], salt);
  assert.equal((await opened())(), salt);
  browserWith({});
  assert.notEqual((await opened())(), salt);
});

test('what is kept and no salt is replaced', async () => {
  const kept = browserWith({ [KEY]: 'short' });
  const salt = (await opened())();
  assert.match(salt, /^[0-9a-f]{32}$/);
  assert.equal(kept[KEY], salt);
});

test('where the browser keeps nothing, the salt lasts as long as the page', async () => {
  for (const withheld of [() => browserWith({}, false), () => {}]) {
    withheld();
    const cacheSalt = await opened();
    assert.equal(cacheSalt(), cacheSalt());
    assert.notEqual((await opened())(), cacheSalt());
  }
});
