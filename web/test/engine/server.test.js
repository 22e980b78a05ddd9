import assert from 'node:assert/strict';
import { test } from 'node:test';

import { AppError } from '../../src/common/errors.js';
import { Server } from '../../src/engine/server.js';

/** @param {() => Response} answer @param {string | null} [token] */
function server(answer, token = null) {
  /** @type {{url: string, headers: any}[]} */
  const asked = [];
  const fetch = /** @type {any} */ (async (/** @type {string} */ url, /** @type {any} */ { headers }) => {
    asked.push({ url, headers });
    return answer();
  });
  return { asked, server: new Server('https://host:1', token, { fetch }) };
}

/** @param {Promise<any>} promise */
async function code(promise) {
  const error = await promise.then(
    () => assert.fail('it should fail'),
    (/** @type {unknown} */ reason) => reason,
  );
  assert(error instanceof AppError);
  return error.code;
}

test('the manifest comes as the bytes that were served, asked for with the token', async () => {
  const { asked, server: it } = server(() => new Response('{"format": 1}'), 'secret');
  assert.equal(new TextDecoder().decode(await it.manifest()), '{"format": 1}');
  assert.deepEqual(asked, [
    { url: 'https://host:1/weights/manifest.json', headers: { Authorization: 'Bearer secret' } },
  ]);
});

test('packed forms are those that the answer with the manifest tells of', async () => {
  const answers = [new Response('{}', { headers: { 'X-Packed': 'a.q8_0, b.q8_0' } }), new Response('{}')];
  const { server: it } = server(() => /** @type {Response} */ (answers.shift()));
  assert.equal(it.packed, '');
  await it.manifest();
  assert.equal(it.packed, 'a.q8_0, b.q8_0');
  await it.manifest();
  assert.equal(it.packed, '');
});

test('without a token no credential is sent', async () => {
  const { asked, server: it } = server(() => new Response('{}'));
  await it.manifest();
  assert.deepEqual(asked[0].headers, {});
});

test('a refusal keeps its code and message', async () => {
  const refused = { error: { code: 'unauthorized', message: 'send a valid token', retryable: false } };
  const { server: it } = server(() => Response.json(refused, { status: 401 }));
  assert.equal(await code(it.manifest()), 'unauthorized');
});

test('an answer of somebody else is named by its status', async () => {
  const { server: it } = server(() => new Response('<html>captive portal</html>', { status: 511 }));
  assert.equal(await code(it.manifest()), 'http_511');
});

test('a code that is no code is not believed', async () => {
  const odd = { error: { code: 'Not a code!', message: 'x' } };
  const { server: it } = server(() => Response.json(odd, { status: 500 }));
  assert.equal(await code(it.manifest()), 'http_500');
});

test('an answer that is too long is refused', async () => {
  const { server: it } = server(() => new Response(new Uint8Array((4 << 20) + 1)));
  assert.equal(await code(it.manifest()), 'answer_too_large');
});

test('no answer at all is a server that cannot be reached', async () => {
  const { server: it } = server(() => {
    throw new TypeError('Failed to fetch');
  });
  assert.equal(await code(it.manifest()), 'server_unreachable');
});
