import assert from 'node:assert/strict';
import { test } from 'node:test';
import { listModels, parseModels } from '../../src/transport/served.js';

const DIGEST = 'a'.repeat(64);
const ENTRY = { name: 'b', path: '/m/b', first: true, state: 'loaded', manifest: DIGEST, family: 'llama', bytes: 5, seconds: 1 };

/** @param {unknown} models */
const documentOf = (models) => new TextEncoder().encode(JSON.stringify({ models, operator: false, version: 1 }));

/** @param {number} status @param {BodyInit} body */
function answering(status, body) {
  /** @type {{url: string, headers: Record<string, string>}[]} */
  const asked = [];
  const fetch = /** @type {any} */ (async (/** @type {string} */ url, /** @type {any} */ { headers }) => {
    asked.push({ url, headers });
    return new Response(body, { status });
  });
  return { asked, fetch };
}

test('the list is asked for at the server itself, with the token', async () => {
  const { asked, fetch } = answering(200, documentOf([ENTRY, { name: 'c.d', state: 'unloaded', manifest: null, bytes: null }]));
  const models = await listModels({ url: 'https://host', token: 'secret-token', fetch });
  assert.deepEqual(asked, [{ url: 'https://host/api/v1/models', headers: { Authorization: 'Bearer secret-token' } }]);
  assert.deepEqual(models, [
    { name: 'b', first: true, state: 'loaded', digest: DIGEST, family: 'llama', bytes: 5 },
    { name: 'c.d', first: false, state: 'unloaded', digest: null, family: '', bytes: null },
  ]);
});

test('a server that lists none has one, and refusals keep their code', async () => {
  for (const status of [404, 405]) {
    assert.deepEqual(await listModels({ url: 'https://host', token: null, ...answering(status, 'no') }), []);
  }
  const refused = JSON.stringify({ error: { code: 'unauthorized', message: 'no', retryable: false } });
  const asking = listModels({ url: 'https://host', token: null, ...answering(401, refused) });
  await assert.rejects(asking, { code: 'unauthorized' });
});

test('a list that cannot be believed is refused', () => {
  const many = Array.from({ length: 257 }, (_, i) => ({ ...ENTRY, name: `m${i}` }));
  const lists = [null, {}, 'x', many, [ENTRY, ENTRY], [null], [{ ...ENTRY, name: '../x' }], [{ ...ENTRY, name: '.x' }],
    [{ ...ENTRY, name: 'x'.repeat(65) }], [{ ...ENTRY, state: 'gone' }]];
  for (const models of lists) {
    assert.throws(() => parseModels(documentOf(models)), { code: 'models_invalid' }, JSON.stringify(models)?.slice(0, 80));
  }
  assert.throws(() => parseModels(new TextEncoder().encode('{')), { code: 'models_invalid' });
});

test('what a person could not read becomes spaces, and numbers that are none are not known', () => {
  const [model] = parseModels(documentOf([{ ...ENTRY, family: 'a\u001b]0', bytes: -1, manifest: 'X' }]));
  assert.deepEqual([model.family, model.bytes, model.digest], ['a ]0', null, null]);
});
