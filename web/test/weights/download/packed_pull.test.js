import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ConnectionLost, Paused, ServerRefused } from '../../../src/weights/errors.js';
import { MAX_TRIES } from '../../../src/weights/download/pull.js';
import { openShard } from '../../../src/weights/shard.js';
import { ModelStore } from '../../../src/weights/store.js';
import { browser } from '../fakes/browser.js';
import { CHUNK } from '../offers.js';
import { PACKED, PackedOffer } from '../packed_offer.js';

const PACKED_CHUNK = (CHUNK / 64) * 34;
const TABLE = 'embedding.bin';

/**
 * Pulls; gives what was told.
 * @param {ModelStore} store @param {PackedOffer} offer @param {AbortSignal} [signal]
 */
async function pull(store, offer, signal) {
  /** @type {any[]} */
  const told = [];
  const onProgress = (/** @type {any} */ progress) => told.push(progress);
  const options = { read: offer.read, forms: offer.forms(), shards: 2, pause: async () => {}, chance: () => 0 };
  await store.pull(offer.manifest, { ...options, onProgress, signal });
  return told;
}

/** @param {ModelStore} store @param {PackedOffer} offer */
async function assertWhole(store, offer) {
  const model = await store.find(offer.digest);
  assert(model);
  for (const descriptor of model.shards(TABLE)) {
    const reader = await openShard(descriptor);
    const rows = new Uint8Array(reader.rows * reader.rowBytes);
    await reader.readRange(0, reader.rows, rows);
    const start = reader.first * reader.rowBytes;
    assert.deepEqual(rows, offer.files[TABLE].subarray(start, start + rows.length));
    reader.close();
  }
}

/** Requests of the table, in either form. @param {PackedOffer} offer */
const asked = (offer) =>
  offer.requests.filter(({ name }) => name.startsWith(TABLE)).map(({ name, first }) => [name, first]);

const memory = () => ModelStore.open({ kind: 'memory' });

for (const kind of /** @type {const} */ (['opfs', 'indexeddb', 'memory'])) {
  test(`${kind}: a table is made of its blocks, which are fewer bytes`, async (t) => {
    browser(t);
    const offer = new PackedOffer();
    const store = await ModelStore.open({ kind });
    const told = await pull(store, offer);
    await assertWhole(store, offer);
    assert.deepEqual(asked(offer), [[PACKED, 0], [PACKED, PACKED_CHUNK], [PACKED, 2 * PACKED_CHUNK]]);
    const spared = (offer.files[TABLE].length / 64) * 30;
    assert.equal(offer.sent, offer.size - spared);
    const { done, total } = told.at(-1);
    assert.deepEqual([done, total], [offer.sent, offer.sent]);
  });
}

test('a download that was paused goes on in blocks, after those that are here', async () => {
  const [store, offer, stop] = [await memory(), new PackedOffer(), new AbortController()];
  offer.spoil = ({ first }, bytes) => {
    if (first > 0) stop.abort();
    if (first > 0) throw new Paused();
    return bytes;
  };
  await assert.rejects(pull(store, offer, stop.signal), { code: 'paused' });
  offer.spoil = (_, bytes) => bytes;
  const told = await pull(store, offer);
  await assertWhole(store, offer);
  assert.equal(told[0].resumed, PACKED_CHUNK);
  assert.deepEqual(asked(offer).map(([, first]) => first),
    [0, PACKED_CHUNK, PACKED_CHUNK, 2 * PACKED_CHUNK]);
});

test('a cut connection costs its chunk', async () => {
  const [store, offer] = [await memory(), new PackedOffer()];
  let cut = true;
  offer.spoil = ({ first }, bytes) => {
    if (first !== PACKED_CHUNK || !cut) return bytes;
    cut = false;
    throw new ConnectionLost('cut');
  };
  await pull(store, offer);
  await assertWhole(store, offer);
  assert.equal(asked(offer).length, 4);
});

test('blocks that arrive damaged once are fetched again', async () => {
  const [store, offer] = [await memory(), new PackedOffer()];
  let damaged = true;
  offer.spoil = (_, bytes) => {
    if (damaged) bytes[7] ^= 1;
    damaged = false;
    return bytes;
  };
  await pull(store, offer);
  await assertWhole(store, offer);
  assert.deepEqual(asked(offer).slice(0, 3), [[PACKED, 0], [PACKED, 0], [PACKED, PACKED_CHUNK]]);
});

test('blocks that stay wrong give way to the file’s own bytes', async () => {
  const [store, offer] = [await memory(), new PackedOffer()];
  offer.spoil = ({ name, first }, bytes) => {
    if (name === PACKED && first > 0) bytes[7] ^= 1;
    return bytes;
  };
  const told = await pull(store, offer);
  await assertWhole(store, offer);
  const wrong = [PACKED, PACKED_CHUNK];
  assert.deepEqual(asked(offer), [[PACKED, 0], wrong, wrong, [TABLE, CHUNK], [TABLE, 2 * CHUNK]]);
  const { done, total } = told.at(-1);
  assert.equal(done, total);
  assert(told.every((progress) => progress.done <= progress.total));
});

test('blocks that are refused give way at once, and a refusal of the file ends the download', async () => {
  const [store, offer] = [await memory(), new PackedOffer()];
  const refused = new Set([PACKED, TABLE]);
  offer.spoil = ({ name }, bytes) => {
    if (refused.has(name)) throw new ServerRefused('not_found', 'no such file');
    return bytes;
  };
  await assert.rejects(pull(store, offer), { code: 'not_found' });
  refused.delete(TABLE);
  await pull(store, offer);
  await assertWhole(store, offer);
  assert.deepEqual(asked(offer).map(([name]) => name), [PACKED, TABLE, PACKED, TABLE, TABLE, TABLE]);
});

test('blocks that end early are given up like any file', async () => {
  const [store, offer] = [await memory(), new PackedOffer()];
  offer.spoil = ({ name }, bytes) => (name === PACKED ? bytes.subarray(0, 35) : bytes);
  await assert.rejects(pull(store, offer), { code: 'download_failed' });
  assert.equal(offer.requests.length, MAX_TRIES);
});
