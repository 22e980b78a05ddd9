import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isShared, keepShared, takeShared } from '../../src/pwa/shared.js';
import { FakeCaches } from './fakes.js';

const ORIGIN = 'https://gate.test';

/** @param {Record<string, string>} fields */
function share(fields) {
  const body = new FormData();
  for (const [name, value] of Object.entries(fields)) body.set(name, value);
  return new Request(`${ORIGIN}/share`, { method: 'POST', body });
}

/** @param {Record<string, string>} fields */
async function shared(fields) {
  const caches = /** @type {any} */ (new FakeCaches());
  const answer = await keepShared(share(fields), caches);
  assert.equal(answer.status, 303);
  assert.equal(answer.headers.get('location'), `${ORIGIN}/?shared`);
  const text = await takeShared(caches, ORIGIN);
  assert.equal(await takeShared(caches, ORIGIN), '');
  return text;
}

test('what is shared is kept once, for the page it leads to', async () => {
  assert.equal(await shared({ title: 'A page', text: 'Look', url: 'https://a.test/' }), 'A page\nLook\nhttps://a.test/');
});

test('what is said twice stands there once', async () => {
  assert.equal(await shared({ title: 'Look', text: 'Look https://a.test/', url: 'https://a.test/' }), 'Look https://a.test/');
  assert.equal(await shared({ title: 'Same', text: 'Same' }), 'Same');
});

test('a text is as long as a draft may be, and nothing is nothing', async () => {
  assert.equal((await shared({ text: 'x'.repeat(50_000) })).length, 20_000);
  assert.equal(await shared({}), '');
});

test('only a POST of this origin to that path is shared', () => {
  assert.ok(isShared({ method: 'POST', url: `${ORIGIN}/share` }, ORIGIN));
  for (const [method, url] of [['GET', `${ORIGIN}/share`], ['POST', `${ORIGIN}/`], ['POST', 'https://b.test/share']]) {
    assert.ok(!isShared({ method, url }, ORIGIN));
  }
});
