import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ask, requireOk } from '../../src/common/asking.js';

/** @param {Response | Error} answer @param {{token?: string | null, limit?: number}} [options] */
async function asked(answer, { token = null, limit = 1000 } = {}) {
  /** @type {any[]} */
  const seen = [];
  const fetch = /** @type {any} */ (async (/** @type {string} */ url, /** @type {any} */ options) => {
    seen.push({ url, ...options });
    if (answer instanceof Error) throw answer;
    return answer;
  });
  return { ...(await ask('https://host/x', { token, limit, fetch })), seen };
}

test('a token is sent to the server asked and to none that it points to', async () => {
  const { seen } = await asked(new Response('x'), { token: 'secret' });
  assert.deepEqual(seen[0].headers, { Authorization: 'Bearer secret' });
  assert.deepEqual([seen[0].redirect, seen[0].credentials, seen[0].cache], ['error', 'omit', 'no-store']);
});

test('an empty token is none', async () => {
  for (const token of [null, '']) assert.deepEqual((await asked(new Response(''), { token })).seen[0].headers, {});
});

test('an answer has its bytes, up to the limit and not beyond', async () => {
  assert.equal((await asked(new Response('x'.repeat(1000)))).body.length, 1000);
  await assert.rejects(asked(new Response('x'.repeat(1001))), { code: 'answer_too_large' });
});

test('an answer without a body is empty', async () => {
  assert.equal((await asked(new Response(null, { status: 204 }))).body.length, 0);
});

test('silence is a server that cannot be reached', async () => {
  await assert.rejects(asked(new TypeError('Failed to fetch')), { code: 'server_unreachable', retryable: true });
});

const status = async (/** @type {Response} */ response) => requireOk(await asked(response));

test('a refusal keeps its code, and its message without what nobody can read', async () => {
  const error = { code: 'overloaded', message: 'a\u001b[2Jb', retryable: true };
  await assert.rejects(status(Response.json({ error }, { status: 503 })), {
    code: 'overloaded',
    message: 'a [2Jb',
    retryable: true,
  });
});

test('401 asks for a token, whoever says so', async () => {
  await assert.rejects(status(new Response('<html>', { status: 401 })), { code: 'unauthorized' });
});

test('an answer of somebody else is named by its status', async () => {
  const odd = { error: { code: 'Not a code!', message: 'x' } };
  await assert.rejects(status(Response.json(odd, { status: 500 })), { code: 'http_500', retryable: true });
  await assert.rejects(status(new Response('<html>', { status: 511 })), { code: 'http_511' });
});
