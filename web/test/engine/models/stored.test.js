import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AppError } from '../../../src/common/errors.js';
import { Engine } from '../../../src/engine/engine.js';
import { PACKED, PackedOffer } from '../../weights/packed_offer.js';
import { WHERE, engineOf, gate, manifest, modelOf, offering, otherManifest, refused, request, serve, storeOf } from '../engines.js';

offering();

test('a removed model is closed first', async () => {
  const model = modelOf(() => []);
  const { engine } = engineOf({ models: [model] });
  await engine.connect(WHERE);
  await engine.prepare(null, () => {});
  await engine.remove({ digest: manifest.digest });
  assert.equal(model.closed, 1);
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
  assert.deepEqual([model.closed, engine._served.model], [1, null]);
});
