import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AppError } from '../../src/common/errors.js';
import { Engine, METHODS } from '../../src/engine/engine.js';
import { parseManifest } from '../../src/weights/manifest.js';
import { WHERE, engineOf, gate, manifest, modelOf, offer, offering, otherManifest, refused, request, serve, storeOf } from './engines.js';

offering();

test('every method that a page may call is there', () => {
  const { engine } = engineOf();
  for (const method of METHODS) assert.equal(typeof (/** @type {any} */ (engine)[method]), 'function', method);
});

test('connect tells what is served and what of it is here', async () => {
  const { engine } = engineOf();
  const connected = await engine.connect(WHERE);
  assert.equal(connected.manifest.digest, manifest.digest);
  assert.deepEqual([connected.stored, connected.doneBytes, connected.storage, connected.freeBytes], [true, 7, 'memory', 1000]);
  assert.deepEqual(connected.adapters, []);
});

test('the handshake begins before the manifest is here, once for a server', async () => {
  const { engine, channels } = engineOf();
  const connected = engine.connect(WHERE);
  assert.deepEqual([channels.length, channels[0].warmed, channels[0].where.url], [1, 1, 'http://server']);
  await connected;
  await engine.connect(WHERE);
  assert.deepEqual([channels.length, channels[0].warmed, channels[0].closed], [1, 2, false]);
  await engine.connect({ ...WHERE, url: 'http://other' });
  assert.deepEqual(channels.map(({ closed }) => closed), [true, false]);
});

test('a channel goes by the routing id of this browser, until the page has another', async () => {
  const { engine, channels } = engineOf();
  await engine.reroute({ routing: 'too early' });
  await engine.connect({ ...WHERE, routing: 'first' });
  const [{ where: { route } }] = channels;
  assert.equal(route.id, 'first');
  // What a full server made of it stays, as long as the page says the same.
  route.change('moved');
  await engine.connect({ ...WHERE, routing: 'first' });
  assert.deepEqual([channels.length, route.id], [1, 'moved']);
  await engine.reroute({ routing: 'second' });
  assert.deepEqual([channels[0].rerouted, route.id], [['second'], 'second']);
  await engine.connect({ ...WHERE, url: 'http://other', routing: 'third' });
  assert.deepEqual([channels[1].where.route.id, route.id], ['third', 'second']);
  await engine.connect(WHERE);
  assert.equal(channels[2].where.route, null);
});

test('a connection to a server that has no manifest is closed, and the one before stays', async () => {
  const { engine, channels } = engineOf();
  await engine.connect(WHERE);
  globalThis.fetch = /** @type {any} */ (async () => new Response('', { status: 404 }));
  await assert.rejects(engine.connect({ ...WHERE, url: 'http://other' }));
  await assert.rejects(engine.connect(WHERE));
  assert.deepEqual(channels.map(({ closed }) => closed), [false, true]);
});

test('a chat is expected only where a model is open', async () => {
  const { engine } = engineOf();
  await engine.expect({ chat: 'c' });
  await engine.connect(WHERE);
  await engine.expect({ chat: 'c' });
  assert.equal(engine._chats.size, 0);
});

test('what comes too early is refused with what has to come first', async () => {
  const { engine } = engineOf({ stored: false });
  await refused(engine.prepare(null, () => {}), 'not_ready');
  await engine.connect(WHERE);
  await refused(engine.prepare(null, () => {}), 'not_ready');
});

test('the ends are opened once, however often they are asked for', async () => {
  const { engine, opening } = engineOf({ models: [modelOf(() => []), modelOf(() => [])] });
  await engine.connect(WHERE);
  const both = [engine.prepare(null, () => {}), engine.prepare(null, () => {})];
  assert.deepEqual(await Promise.all(both), [{ kernel: 'simd', workers: 2 }, { kernel: 'simd', workers: 2 }]);
  assert.equal(opening.length, 1);
});

test('ends that died are closed, and opened again with the next reply', async () => {
  const dead = modelOf(() => {
    throw new AppError('ends_failed', 'a worker stopped', { retryable: true });
  });
  const { engine, opening } = engineOf({ models: [dead, modelOf(() => [])] });
  await engine.connect(WHERE);
  await engine.prepare(null, () => {});
  await refused(engine.reply(/** @type {any} */ (request()), () => {}, 1), 'ends_failed');
  assert.equal(dead.closed, 1);
  await refused(engine.reply(/** @type {any} */ (request()), () => {}, 2), 'prompt_empty');
  assert.equal(opening.length, 0);
});

test('an adapter that the server does not have is refused by name', async () => {
  const { engine } = engineOf({ models: [modelOf(() => [1, 2])] });
  await engine.connect(WHERE);
  const named = /** @type {any} */ ({ ...request(), adapter: 'law' });
  await refused(engine.reply(named, () => {}, 1), 'unknown_adapter');
});

test('a prompt that leaves no room is refused before anything is sent', async () => {
  const { engine } = engineOf({ models: [modelOf(() => Array(manifest.maxContext + 1).fill(1))] });
  await engine.connect(WHERE);
  await refused(engine.reply(/** @type {any} */ (request()), () => {}, 1), 'prompt_too_long');
});

test('a model that was being opened when another one is served is closed and never used', async () => {
  const first = modelOf(() => []);
  const second = { ...modelOf(() => []), manifest: parseManifest(otherManifest()) };
  const slow = gate();
  const options = {
    cores: 2,
    openStore: async () => ({ ...storeOf({ stored: true }), find: async (/** @type {string} */ digest) => ({ digest }) }),
    openModel: async (/** @type {any} */ { digest }) => {
      if (digest !== manifest.digest) return second;
      await slow.passed;
      return first;
    },
  };
  const engine = new Engine(() => {}, /** @type {any} */ (options));
  serve('http://other', otherManifest());
  await engine.connect(WHERE);
  const early = engine.prepare(null, () => {});
  const outcome = refused(early, 'not_ready');
  await engine.connect({ url: 'http://other', token: null });
  const late = engine.prepare(null, () => {});
  slow.open();
  await Promise.all([outcome, late]);
  assert.deepEqual([first.closed, second.closed, engine._served.model], [1, 0, second]);
});

test('of two connections the later one counts, whichever is answered first', async () => {
  const { engine } = engineOf({ models: [modelOf(() => [])] });
  const slow = gate();
  serve('http://slow', otherManifest(), /** @type {Promise<any>} */ (slow.passed));
  const earlier = refused(engine.connect({ url: 'http://slow', token: null }), 'connect_superseded');
  await engine.connect(WHERE);
  slow.open();
  await earlier;
  assert.equal(engine._connected().server.url, WHERE.url);
});

test('what was asked of a connection while another is left goes to the new one', async () => {
  const { engine } = engineOf({ models: [modelOf(() => [])] });
  await engine.connect(WHERE);
  const channel = engine._open();
  const slow = gate();
  engine._chats.set('old', /** @type {any} */ ({ close: () => slow.passed }));
  serve('http://second', offer.manifest);
  const connecting = engine.connect({ url: 'http://second', token: null });
  while (engine._chats.size) await new Promise((resolve) => setImmediate(resolve));
  const opened = engine._open();
  slow.open();
  await connecting;
  assert.notEqual(opened, channel);
  assert.equal(engine._open(), opened);
});

for (const [what, where, isKept] of /** @type {[string, object, boolean][]} */ ([
  ['the same server', {}, true],
  ['another token', { token: 'new' }, false],
  ['another way', { transport: 'http' }, false],
])) {
  test(`a connection to ${what} ${isKept ? 'keeps' : 'closes'} the sessions of the chats`, async () => {
    const { engine } = engineOf({ models: [modelOf(() => [])] });
    await engine.connect(WHERE);
    const channel = engine._open();
    let closed = 0;
    engine._chats.set('c', /** @type {any} */ ({ close: async () => void (closed += 1) }));
    await engine.connect({ ...WHERE, ...where });
    assert.deepEqual([closed, engine._chats.size, engine._open() === channel], isKept ? [0, 1, true] : [1, 0, false]);
  });
}

test('another model at the same server, and a device that was revoked over it, begin anew', async () => {
  for (const change of [() => serve(WHERE.url, otherManifest()), (/** @type {any} */ channel) => {
    Object.defineProperty(channel, 'revoked', { value: true });
  }]) {
    const { engine } = engineOf({ models: [modelOf(() => [])] });
    await engine.connect(WHERE);
    const channel = engine._open();
    change(channel);
    await engine.connect(WHERE);
    assert.notEqual(engine._open(), channel);
  }
});
