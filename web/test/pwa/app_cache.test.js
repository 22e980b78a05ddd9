import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AppCache } from '../../src/pwa/app_cache.js';
import { FakeCaches, FakeServer, ORIGIN, requestOf } from './fakes.js';

/** @param {string} [build] */
function world(build = 'b1') {
  const caches = new FakeCaches();
  const server = new FakeServer(build);
  const cache = new AppCache({ caches: /** @type {any} */ (caches), fetch: server.fetch, origin: ORIGIN });
  return { caches, server, cache };
}

/** @param {AppCache} cache @param {string} path @param {object} [options] */
async function answered(cache, path, options) {
  return (await cache.answer(requestOf(path, options)))?.text() ?? null;
}

test('a whole build is kept and answers without the network', async () => {
  const { cache, server } = world();
  assert.equal(await cache.update(), 'b1');
  server.online = false;
  assert.equal(await answered(cache, '/', { mode: 'navigate' }), server.page);
  assert.equal(await answered(cache, '/?from=home', { mode: 'navigate' }), server.page);
  assert.equal(await answered(cache, '/app/b1/engine.js'), 'b1 /app/b1/engine.js');
  const kept = await cache.answer(requestOf('/'));
  assert.equal(kept?.headers.get('content-security-policy'), 'x');
  assert.equal(kept?.headers.has('content-encoding'), false);
});

test('no credentials go along and redirects are not followed', async () => {
  const { cache, server } = world();
  await cache.update();
  assert.equal(server.asked.length, 6);
  for (const { options } of server.asked) {
    assert.equal(options.credentials, 'omit');
    assert.equal(options.redirect, 'error');
    assert.equal(options.headers, undefined);
  }
});

test('everything but the files of the app is the business of the network', async () => {
  const { cache } = world();
  await cache.update();
  const others = [
    requestOf('/api/v1/split/forward', { method: 'POST' }),
    requestOf('/', { method: 'POST' }),
    requestOf('/', { method: 'HEAD' }),
    requestOf('/api/v1/adapters'),
    requestOf('/weights/x/head'),
    requestOf('/v1/models'),
    requestOf('/pair', { mode: 'navigate' }),
    requestOf('/health'),
    requestOf('/app-files.json'),
    requestOf('/app/b1/app.js', { mode: 'navigate' }),
    requestOf('/app/b1/app.js', { headers: { Authorization: 'Bearer x' } }),
    requestOf('/app/b1/app.js', { headers: { Range: 'bytes=0-1' } }),
    requestOf('https://evil.org/app/b1/app.js'),
  ];
  for (const request of others) {
    assert.equal(cache.mayAnswer(request), false, request.url);
    assert.equal(await cache.answer(request), null);
  }
  assert.equal(await cache.answer(requestOf('/app/unknown/app.js')), null);
  assert.equal(await cache.answer(requestOf('/icons/other.png')), null);
});

test('a new build is served once all its files are in, and the one before stays for open pages', async () => {
  const { cache, server, caches } = world();
  await cache.update();
  assert.equal(await cache.update(), null);
  server.serve('b2');
  server.missing.add('/app/b2/engine.js');
  await assert.rejects(cache.update());
  assert.match(/** @type {string} */ (await answered(cache, '/')), /b1/);
  assert.ok(!(await caches.keys()).includes('gatelink-app-b2'));
  server.missing.clear();
  assert.equal(await cache.update(), 'b2');
  assert.match(/** @type {string} */ (await answered(cache, '/')), /b2/);
  assert.equal(await answered(cache, '/app/b1/engine.js'), 'b1 /app/b1/engine.js');
  server.serve('b3');
  await cache.update();
  assert.equal(await answered(cache, '/app/b1/engine.js'), null);
  assert.deepEqual((await caches.keys()).sort(), ['gatelink-app-b2', 'gatelink-app-b3', 'gatelink-current']);
});

test('an answer that breaks off leaves the build before', async () => {
  const { cache, server } = world();
  await cache.update();
  server.serve('b2');
  const whole = server.fetch;
  cache.fetch = async (url, options) => {
    if (!url.endsWith('engine.js')) return whole(url, options);
    const body = new ReadableStream({ pull: (controller) => controller.error(new TypeError('cut')) });
    return new Response(body);
  };
  await assert.rejects(cache.update(), { message: 'cut' });
  assert.match(/** @type {string} */ (await answered(cache, '/')), /b1/);
});

test('a build that the browser has thrown away is fetched again', async () => {
  const { cache, caches } = world();
  await cache.update();
  await caches.delete('gatelink-app-b1');
  assert.equal(await cache.answer(requestOf('/')), null);
  assert.equal(await cache.update(), 'b1');
  assert.ok(await cache.answer(requestOf('/')));
});

test('a server without a list is read from its page', async () => {
  const { cache, server } = world();
  server.list = null;
  assert.equal(await cache.update(), 'b1');
  assert.ok(await cache.answer(requestOf('/app/b1/kernels.wasm')));
  server.list = { build: '../evil', files: ['/'] };
  assert.equal(await cache.update(), null);
});

test('a page that names no build is not kept', async () => {
  const { cache, server, caches } = world();
  server.list = null;
  server.page = '<p>another program on this address</p>';
  await assert.rejects(cache.update());
  assert.equal(await cache.current(), null);
  assert.deepEqual(await caches.keys(), ['gatelink-current'].filter((name) => caches.byName.has(name)));
});

test('offline nothing is lost', async () => {
  const { cache, server } = world();
  await cache.update();
  server.online = false;
  await assert.rejects(cache.update());
  assert.equal((await cache.current())?.build, 'b1');
});

test('two looks for a new build at once are one', async () => {
  const { cache, server } = world();
  assert.deepEqual(await Promise.all([cache.update(), cache.update()]), ['b1', 'b1']);
  assert.equal(server.asked.length, 6);
});

test('a file beyond its bound is not kept', async () => {
  const { cache, server } = world();
  const whole = server.fetch;
  cache.fetch = async (url, options) => {
    return url.endsWith('app.js') ? new Response(new Uint8Array((4 << 20) + 1)) : whole(url, options);
  };
  await assert.rejects(cache.update(), { message: /too large/ });
});
