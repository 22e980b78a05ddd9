import assert from 'node:assert/strict';
import { test } from 'node:test';
import { connector } from '../../src/transport/connect.js';

test('a connection over HTTP exists once a ping was answered', async (context) => {
  /** @type {any[]} */
  const posted = [];
  context.mock.method(globalThis, 'fetch', async (/** @type {string} */ url, /** @type {any} */ how) => {
    posted.push([url, how.body]);
    if (posted.length > 1) throw new TypeError('Failed to fetch');
    return new Response(how.body);
  });
  const connect = connector('http://server', null, 1000);
  const how = { timeout: 5, signal: new AbortController().signal };
  assert.equal((await connect('http', how)).name, 'http');
  await assert.rejects(connect('http', how), { code: 'server_unreachable' });
  assert.equal(posted.length, 2);
});
