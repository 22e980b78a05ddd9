import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ConnectionLost } from '../../../src/weights/errors.js';
import { atomically, openDatabase, promised } from '../../../src/weights/indexeddb/database.js';
import { openShard } from '../../../src/weights/shard.js';
import { ModelStore } from '../../../src/weights/store.js';
import { browser } from '../fakes/browser.js';
import { CHUNK, HIDDEN, Offer } from '../offers.js';

const ROW = HIDDEN * 4;
const UNTOLD = 32 << 10;
const quick = { shards: 1, pause: async () => {}, chance: () => 0 };

/** @param {import('../../../types/gatelink.js').ShardReader} reader @param {number[]} indices */
async function rows(reader, indices) {
  const into = new Uint8Array(indices.length * ROW);
  await reader.readRows(Int32Array.from(indices), into);
  return into;
}

/** @param {Offer} offer @param {number[]} indices */
function expected(offer, indices) {
  const table = offer.files['embedding.bin'];
  return Uint8Array.from(indices.flatMap((index) => [...table.subarray(index * ROW, (index + 1) * ROW)]));
}

/** How many records `work` asks for one by one. @param {() => Promise<unknown>} work */
async function asked(work) {
  const { get } = IDBObjectStore.prototype;
  let count = 0;
  IDBObjectStore.prototype.get = function counted(key) {
    count += 1;
    return get.call(this, key);
  };
  try {
    await work();
  } finally {
    IDBObjectStore.prototype.get = get;
  }
  return count;
}

/** What there is of a model, as it lay in records of 32 KiB without a note of it. @param {Offer} offer */
async function asBefore(offer) {
  const database = await openDatabase();
  const range = IDBKeyRange.bound([offer.digest, 'f0s0'], [offer.digest, 'f0s0', []]);
  const stored = database.transaction('pieces').objectStore('pieces');
  const pieces = await promised(stored.getAll(range));
  const bytes = new Uint8Array(await new Blob(pieces).arrayBuffer());
  await atomically(database, (models, store) => {
    models.delete([offer.digest, 'record']);
    store.delete(range);
    for (let at = 0; at < bytes.length; at += UNTOLD)
      store.put(bytes.slice(at, at + UNTOLD), [offer.digest, 'f0s0', at / UNTOLD]);
  });
  database.close();
}

test('scattered rows are read in records of 8 KiB, and rows wanted again are not read again', async (t) => {
  browser(t);
  const offer = new Offer();
  const store = await ModelStore.open({ kind: 'indexeddb' });
  const model = await store.pull(offer.manifest, { read: offer.read, ...quick });
  const [descriptor] = model.shards('embedding.bin');
  const reader = await openShard(descriptor);
  const check = async (/** @type {number[]} */ indices) =>
    assert.deepEqual(await rows(reader, indices), expected(offer, indices));
  assert.equal(await asked(() => check([1099, 3, 31, 32, 700])), 4);
  assert.equal(await asked(() => check([32, 3])), 0);
  assert.equal(await asked(() => rows(reader, [3, 4, 700])), 1);
  reader.close();
});

test('memory for rows is bounded by a part of the shard', async (t) => {
  browser(t);
  const offer = new Offer();
  const store = await ModelStore.open({ kind: 'indexeddb' });
  const model = await store.pull(offer.manifest, { read: offer.read, ...quick });
  const reader = await openShard(model.shards('embedding.bin')[0]);
  const all = Array.from({ length: reader.rows }, (_, index) => index);
  await rows(reader, all);
  const again = await asked(async () => assert.deepEqual(await rows(reader, all), expected(offer, all)));
  assert.ok(again > 0.9 * Math.ceil((reader.rows * ROW) / (8 << 10)));
  reader.close();
});

test('a model in records of 32 KiB is found and read as it is', async (t) => {
  browser(t);
  const offer = new Offer();
  const store = await ModelStore.open({ kind: 'indexeddb' });
  await store.pull(offer.manifest, { read: offer.read, ...quick });
  const [{ bytes: size }] = await store.list();
  await asBefore(offer);
  const model = await store.find(offer.digest);
  assert.ok(model);
  assert.equal((await store.list())[0].bytes, size);
  const reader = await openShard(model.shards('embedding.bin')[0]);
  const indices = [1099, 0, 127, 128, 640];
  assert.deepEqual(await rows(reader, indices), expected(offer, indices));
  const run = new Uint8Array(300 * ROW);
  await reader.readRange(800, 300, run);
  assert.deepEqual(run, offer.files['embedding.bin'].subarray(800 * ROW));
  reader.close();
  assert.equal(offer.sent, offer.size);
});

test('a download that was begun in records of 32 KiB goes on in them', async (t) => {
  browser(t);
  const offer = new Offer();
  offer.spoil = ({ first }, bytes) => {
    if (first >= 2 * CHUNK) throw new ConnectionLost('cut');
    return bytes;
  };
  const store = await ModelStore.open({ kind: 'indexeddb' });
  const options = { read: offer.read, ...quick };
  await assert.rejects(store.pull(offer.manifest, options), { code: 'download_failed' });
  await asBefore(offer);
  offer.spoil = (_, bytes) => bytes;
  const model = await store.pull(offer.manifest, options);
  assert.equal(offer.sent, offer.size);
  const reader = await openShard(model.shards('embedding.bin')[0]);
  const all = Array.from({ length: reader.rows }, (_, index) => index);
  assert.deepEqual(await rows(reader, all), expected(offer, all));
  reader.close();
});

test('a record of another length is told, not read as zeros', async (t) => {
  browser(t);
  const offer = new Offer();
  const store = await ModelStore.open({ kind: 'indexeddb' });
  const model = await store.pull(offer.manifest, { read: offer.read, ...quick });
  const reader = await openShard(model.shards('embedding.bin')[0]);
  const database = await openDatabase();
  for (const length of [ROW, (8 << 10) - 1, 32 << 10]) {
    await atomically(database, (_, pieces) => void pieces.put(new Uint8Array(length), [offer.digest, 'f0s0', 1]));
    const told = { code: 'store_failed' };
    await assert.rejects(rows(reader, [40]), told);
    await assert.rejects(async () => reader.readRange(0, 64, new Uint8Array(64 * ROW)), told);
  }
  database.close();
  reader.close();
});
