import assert from 'node:assert/strict';
import { afterEach, test } from 'node:test';
import { KEY, isRoutingId, newRoutingId } from '../../src/settings/routing_id.js';

/** A page that opens; each has the module anew. */
async function opened() {
  pages += 1;
  return import(`../../src/settings/routing_id.js?page=${pages}`);
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
    removeItem: (/** @type {string} */ key) => delete kept[key],
  });
  return kept;
}

afterEach(() => Reflect.deleteProperty(globalThis, 'localStorage'));

test('an id is 16 bytes in base64url, and none is like another', () => {
  const made = Array.from({ length: 2000 }, newRoutingId);
  assert.ok(made.every((id) => isRoutingId(id) && Buffer.from(id, 'base64url').length === 16));
  assert.equal(new Set(made).size, made.length);
});

test('every bit of an id is as often set as not', () => {
  const counts = new Array(128).fill(0);
  for (let i = 0; i < 4000; i++) {
    const bytes = Buffer.from(newRoutingId(), 'base64url');
    for (let bit = 0; bit < 128; bit++) counts[bit] += (bytes[bit >> 3] >> (bit & 7)) & 1;
  }
  for (const ones of counts) assert.ok(Math.abs(ones - 2000) < 220, `${ones}`);
});

test('what is no id goes into no URL', () => {
  const whole = 'A'.repeat(22);
  assert.ok(isRoutingId(whole));
  for (const text of [null, 7, '', 'A'.repeat(21), `${whole}A`, `${'A'.repeat(21)}B`, `${'A'.repeat(21)}=`, `${whole}\n`]) {
    assert.ok(!isRoutingId(text), String(text));
  }
});

test('a browser has one id for all of its pages, until another is made', async () => {
  const kept = browserWith({});
  const [page, other] = [await opened(), await opened()];
  const id = page.routingId();
  assert.equal(kept[KEY], id);
  assert.equal(other.routingId(), id);
  const next = other.routeAnew();
  assert.notEqual(next, id);
  assert.equal(page.routingId(), next);
});

test('an id that is forgotten, or is none, is made anew', async () => {
  const kept = browserWith({ [KEY]: 'x&token=1' });
  const page = await opened();
  const id = page.routingId();
  assert.ok(isRoutingId(id));
  page.forgetRoutingId();
  assert.equal(kept[KEY], undefined);
  assert.notEqual(page.routingId(), id);
});

test('where the browser keeps nothing, the id lasts as long as the page', async () => {
  for (const withheld of [() => browserWith({}, false), () => {}]) {
    withheld();
    const page = await opened();
    assert.equal(page.routingId(), page.routingId());
    assert.notEqual((await opened()).routingId(), page.routingId());
  }
});
