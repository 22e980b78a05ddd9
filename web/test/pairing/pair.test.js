import assert from 'node:assert/strict';
import test from 'node:test';

import { isAccepted, redeem } from '../../src/pairing/pair.js';

const TOKEN = 'a-token-of-enough-length';

/** @param {number} status @param {unknown} body @param {unknown[]} [seen] @returns {typeof fetch} */
const answering = (status, body, seen = []) => async (url, options) => {
  seen.push([url, options]);
  return new Response(typeof body === 'string' ? body : JSON.stringify(body), { status });
};
const refused = (/** @type {string} */ code) => ({ error: { code, message: 'a\u0007 word', retryable: true } });

test('a code becomes a token, asked for by name and without credentials', async () => {
  /** @type {any[]} */
  const seen = [];
  const paired = await redeem(
    { code: ' AB12-CD34 ', name: ' my phone ' },
    answering(200, { token: TOKEN, id: '0a1b', name: 'my phone 2' }, seen),
  );
  assert.deepEqual(paired, { token: TOKEN, id: '0a1b', name: 'my phone 2' });
  const [url, options] = seen[0];
  assert.equal(url, '/api/v1/pair');
  assert.equal(options.credentials, 'omit');
  assert.deepEqual(JSON.parse(options.body), { code: 'AB12-CD34', name: 'my phone' });
});

for (const code of ['pairing_refused', 'pairing_busy']) {
  test(`${code} is told in the server's words, without control characters`, async () => {
    await assert.rejects(redeem({ code: 'x', name: 'y' }, answering(403, refused(code))), {
      code,
      message: 'a  word',
      retryable: true,
    });
  });
}

for (const code of ['not_found', 'method_not_allowed', 'unauthorized']) {
  test(`a server that says ${code} does not pair`, async () => {
    await assert.rejects(redeem({ code: 'x', name: 'y' }, answering(404, refused(code))), {
      code: 'pairing_failed',
    });
  });
}

for (const body of ['', '[]', '<html>', { token: 'short', id: 'a', name: 'b' }, { token: TOKEN }]) {
  test(`an answer ${JSON.stringify(body)} gives no token`, async () => {
    await assert.rejects(redeem({ code: 'x', name: 'y' }, answering(200, body)), { code: 'pairing_failed' });
  });
}

test('no answer is a server that cannot be reached', async () => {
  const failing = async () => {
    throw new TypeError('Failed to fetch');
  };
  await assert.rejects(redeem({ code: 'x', name: 'y' }, failing), { code: 'server_unreachable', retryable: true });
});

test('a token counts, does not count, or nobody knows', async () => {
  assert.equal(await isAccepted(TOKEN, answering(200, '')), true);
  assert.equal(await isAccepted(TOKEN, answering(401, '')), false);
  await assert.rejects(isAccepted(TOKEN, answering(503, '')), { code: 'pairing_failed' });
});
