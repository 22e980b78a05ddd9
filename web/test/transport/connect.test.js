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

test('an address that never answers is unreachable after the time to connect', async (context) => {
  context.mock.timers.enable({ apis: ['setTimeout'] });
  context.mock.method(globalThis, 'fetch', (/** @type {string} */ _, /** @type {any} */ { signal }) => {
    return new Promise((__, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
  });
  const connect = connector('http://server', null, 1000);
  const connecting = connect('http', { timeout: 5, signal: new AbortController().signal });
  context.mock.timers.tick(5000);
  await assert.rejects(connecting, { code: 'server_unreachable' });
});
