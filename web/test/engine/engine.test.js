import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';

import { AppError } from '../../src/common/errors.js';
import { Engine, METHODS } from '../../src/engine/engine.js';
import { parseManifest } from '../../src/weights/manifest.js';
import { Offer } from '../weights/offers.js';
import { PACKED, PackedOffer } from '../weights/packed_offer.js';

const WHERE = { url: 'http://server', token: null };
const offer = new Offer();
const manifest = parseManifest(offer.manifest);
const { fetch } = globalThis;

beforeEach(() => {
  globalThis.fetch = /** @type {any} */ (async (/** @type {string} */ url) =>
    url.endsWith('/manifest.json') ? new Response(offer.manifest) : new Response('', { status: 404 }));
});
afterEach(() => {
  globalThis.fetch = fetch;
});

/** A store that has the model or not. @param {{stored: boolean}} options */
const storeOf = ({ stored }) => ({
  kind: 'memory',
  list: async () => [{ digest: manifest.digest, name: manifest.name, complete: stored, bytes: stored ? 7 : 0 }],
  find: async () => (stored ? { manifest } : null),
  free: async () => 1000,
  remove: async () => {},
});

/** A model whose tokenizer does what the test says. @param {() => number[]} encode */
function modelOf(encode) {
  const model = { manifest, tokenizer: { encode }, template: null, closed: 0, ends: { kernel: 'simd', workers: 2 } };
  return Object.assign(model, { close: async () => void (model.closed += 1) });
}

/** @param {{stored?: boolean, models?: any[]}} options */
function engineOf({ stored = true, models = [] } = {}) {
  const opening = [...models];
  /** Channels as they were made. @type {any[]} */
  const channels = [];
  const makeChannel = (/** @type {any} */ where) => {
    const channel = {
      where, warmed: 0, closed: false, revoked: false,
      accept() {}, tell() {}, warm: async () => void (channel.warmed += 1), close: () => void (channel.closed = true),
    };
    channels.push(channel);
    return channel;
  };
  const options = {
    cores: 2, openStore: async () => storeOf({ stored }), openModel: async () => opening.shift(), makeChannel,
  };
  return { opening, channels, engine: new Engine(() => {}, /** @type {any} */ (options)) };
}

const request = () => ({
  chat: 'c', messages: [{ role: 'user', content: 'hi' }], params: {}, maxTokens: 1, stop: [], adapter: null, mode: 'plain',
});

/** @param {Promise<any>} promise @param {string} code */
const refused = (promise, code) =>
  assert.rejects(promise, (error) => error instanceof AppError && error.code === code);

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

test('a removed model is closed first', async () => {
  const model = modelOf(() => []);
  const { engine } = engineOf({ models: [model] });
  await engine.connect(WHERE);
  await engine.prepare(null, () => {});
  await engine.remove({ digest: manifest.digest });
  assert.equal(model.closed, 1);
});

/** What a test lets happen when it wants. */
function gate() {
  /** @type {() => void} */
  let open = () => {};
  const passed = new Promise((resolve) => (open = () => resolve(undefined)));
  return { open, passed };
}

/** Another model than that of `offer`. */
function otherManifest() {
  const changed = JSON.parse(new TextDecoder().decode(offer.manifest));
  changed.model.name = 'another';
  return new TextEncoder().encode(JSON.stringify(changed));
}

/** The server at `url` answers with `manifest` once `until` has passed. */
function serve(/** @type {string} */ url, /** @type {Uint8Array} */ bytes, until = Promise.resolve()) {
  const before = globalThis.fetch;
  globalThis.fetch = /** @type {any} */ (async (/** @type {string} */ address) => {
    if (!address.startsWith(url) || !address.endsWith('/manifest.json')) return before(address);
    await until;
    return new Response(/** @type {BodyInit} */ (bytes));
  });
}

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
  assert.deepEqual([first.closed, second.closed, engine._slot.model], [1, 0, second]);
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

test('a store is opened once, however many ask for it', async () => {
  let opened = 0;
  const openStore = async () => {
    opened += 1;
    return storeOf({ stored: true });
  };
  const engine = new Engine(() => {}, /** @type {any} */ ({ cores: 2, openStore }));
  await Promise.all([engine.models(), engine.connect(WHERE), engine.models()]);
  assert.equal(opened, 1);
});

test('a store that fails, as when the browser cleared it, is opened anew', async () => {
  const failing = async () => {
    throw new AppError('store_failed', 'NotFoundError');
  };
  const stores = [{ ...storeOf({ stored: true }), list: failing }, storeOf({ stored: false })];
  const openStore = async () => stores.shift();
  const engine = new Engine(() => {}, /** @type {any} */ ({ cores: 2, openStore }));
  assert.equal((await engine.connect(WHERE)).stored, false);
  assert.equal(stores.length, 0);
});

test('a model that lost files since it was kept is not called stored', async () => {
  const openStore = async () => ({ ...storeOf({ stored: true }), find: async () => null });
  const engine = new Engine(() => {}, /** @type {any} */ ({ cores: 2, openStore }));
  const { stored, doneBytes } = await engine.connect(WHERE);
  assert.deepEqual([stored, doneBytes], [false, 0]);
});

test('a new connection pauses the download of the one before, and another download may follow at once', async () => {
  let pulls = 0;
  const pull = async (/** @type {any} */ _, /** @type {any} */ { signal }) => {
    pulls += 1;
    if (pulls > 1) return;
    await new Promise((resolve) => signal.addEventListener('abort', resolve));
    throw new Error('given up');
  };
  const openStore = async () => ({ ...storeOf({ stored: false }), pull });
  const engine = new Engine(() => {}, /** @type {any} */ ({ cores: 2, openStore }));
  await engine.connect(WHERE);
  const first = refused(engine.pull(null, () => {}), 'paused');
  await engine.connect(WHERE);
  await Promise.all([first, engine.pull(null, () => {})]);
  assert.equal(pulls, 2);
});

test('a model whose table comes in blocks is told smaller, and pulled so', async () => {
  const packed = new PackedOffer();
  globalThis.fetch = /** @type {any} */ (async (/** @type {string} */ url) =>
    url.endsWith('/manifest.json')
      ? new Response(packed.manifest, { headers: { 'X-Packed': PACKED } })
      : new Response('', { status: 404 }));
  /** @type {any[]} */
  const pulled = [];
  const pull = async (/** @type {any} */ _, /** @type {any} */ { forms }) => void pulled.push(...forms.keys());
  const list = async () => [{ digest: packed.digest, name: 'tiny', complete: false, bytes: 640 }];
  const openStore = async () => ({ ...storeOf({ stored: false }), list, pull });
  const engine = new Engine(() => {}, /** @type {any} */ ({ cores: 2, openStore }));
  const connected = await engine.connect(WHERE);
  const blocks = packed.files[PACKED].length;
  const table = packed.files['embedding.bin'].length;
  assert.deepEqual(
    [connected.manifest.size, connected.comes, connected.doneBytes],
    [packed.size, packed.size - table + blocks, 340],
  );
  await engine.pull(null, () => {});
  assert.deepEqual(pulled, ['embedding.bin']);
});

test('a model that comes as it is stored is told with its size', async () => {
  const { engine } = engineOf({ stored: false });
  assert.equal((await engine.connect(WHERE)).comes, manifest.size);
});

test('a download that fails because the server serves another model says so', async () => {
  const pull = async () => {
    throw new AppError('download_damaged', 'chunk 0 arrived damaged');
  };
  const openStore = async () => ({ ...storeOf({ stored: false }), pull });
  const engine = new Engine(() => {}, /** @type {any} */ ({ cores: 2, openStore }));
  await engine.connect(WHERE);
  await refused(engine.pull(null, () => {}), 'download_damaged');
  serve(WHERE.url, otherManifest());
  await refused(engine.pull(null, () => {}), 'weights_changed');
});

for (const code of ['store_failed', 'weights_size_mismatch']) {
  test(`ends whose files fail with ${code} are opened anew with the next reply`, async () => {
    const broken = modelOf(() => {
      throw new AppError(code, 'gone');
    });
    const { engine } = engineOf({ models: [broken, modelOf(() => [])] });
    await engine.connect(WHERE);
    await refused(engine.reply(/** @type {any} */ (request()), () => {}, 1), code);
    assert.equal(broken.closed, 1);
    await refused(engine.reply(/** @type {any} */ (request()), () => {}, 2), 'prompt_empty');
  });
}

test('a model is removed only after its opening has ended', async () => {
  const slow = gate();
  const model = modelOf(() => []);
  const openModel = async () => {
    await slow.passed;
    return model;
  };
  const openStore = async () => storeOf({ stored: true });
  const engine = new Engine(() => {}, /** @type {any} */ ({ cores: 2, openStore, openModel }));
  await engine.connect(WHERE);
  const preparing = engine.prepare(null, () => {});
  const removing = engine.remove({ digest: manifest.digest });
  slow.open();
  await Promise.all([preparing, removing]);
  assert.deepEqual([model.closed, engine._slot.model], [1, null]);
});

test('what the latest reply looked at outlasts a connection, and goes with its chat', async () => {
  const { engine } = engineOf();
  await engine.connect(WHERE);
  const reply = /** @type {any} */ ({ answer: (/** @type {string} */ _ask, /** @type {number} */ from) => ({ from }) });
  engine._attention._latest = { chat: 'c', reply };
  await engine.connect(WHERE);
  assert.deepEqual([engine.keptAttention({ chat: 'c', ask: 'attended', value: 3 }), engine.keptAttention({ chat: 'd', ask: 'attended', value: 0 })], [{ from: 3 }, null]);
  await engine.closeChat({ chat: 'd' });
  assert.deepEqual(engine.keptAttention({ chat: 'c', ask: 'attended', value: 0 }), { from: 0 });
  await engine.closeChat({ chat: 'c' });
  assert.equal(engine.keptAttention({ chat: 'c', ask: 'attended', value: 0 }), null);
});

test('the tokens of replies are those of one model, and go with their chat', async () => {
  const { engine } = engineOf({ models: [modelOf(() => [])] });
  const begin = (/** @type {string} */ answer, /** @type {string} */ chat) =>
    engine._answers.begin(/** @type {any} */ ({ ...request(), answer, chat }), [1], []);
  begin('early', 'c');
  assert.equal(await engine.tokens({ answer: 'early', from: 0 }), null);
  await engine.connect(WHERE);
  await engine.prepare(null, () => {});
  begin('a', 'c');
  begin('b', 'd');
  assert.deepEqual(await engine.tokens({ answer: 'a', from: 0 }), { tokens: [], count: 0 });
  assert.equal(await engine.alternatives({ answer: 'a', at: 0 }), null);
  await engine.closeChat({ chat: 'c' });
  assert.equal(await engine.tokens({ answer: 'a', from: 0 }), null);
  assert.notEqual(await engine.tokens({ answer: 'b', from: 0 }), null);
  await engine.remove({ digest: manifest.digest });
  assert.equal(engine._answers.named('b'), null);
});
