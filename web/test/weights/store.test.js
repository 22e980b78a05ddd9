import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AppError } from '../../src/common/errors.js';
import { ConnectionLost, ServerRefused } from '../../src/weights/errors.js';
import { openShard } from '../../src/weights/shard.js';
import { ModelStore } from '../../src/weights/store.js';
import { browser } from './fakes/browser.js';
import { FakeDisk } from './fakes/opfs.js';
import { CHUNK, HIDDEN, noise, Offer, VOCAB } from './offers.js';

const KINDS = /** @type {const} */ (['opfs', 'indexeddb', 'memory']);
const ROW = HIDDEN * 4;
const quick = { shards: 3, pause: async () => {}, chance: () => 0 };

for (const kind of KINDS) {
  test(`${kind}: a pulled model gives its texts whole and its rows by shard`, async (t) => {
    browser(t);
    const offer = new Offer();
    const store = await ModelStore.open({ kind });
    assert.equal(await store.find(offer.digest), null);
    const model = await store.pull(offer.manifest, { read: offer.read, ...quick });
    assert.deepEqual(model.manifestBytes, offer.manifest);
    assert.deepEqual(await model.bytes('tokenizer.json'), offer.files['tokenizer.json']);
    const shards = model.shards('embedding.bin');
    assert.deepEqual(
      shards.map(({ first, rows }) => [first, rows]),
      [
        [0, 366],
        [366, 367],
        [733, 367],
      ],
    );
    for (const descriptor of shards) {
      const reader = await openShard(structuredClone(descriptor));
      const all = new Uint8Array(reader.rows * ROW);
      await reader.readRange(0, reader.rows, all);
      const start = reader.first * ROW;
      assert.deepEqual(all, offer.files['embedding.bin'].subarray(start, start + all.length));
      reader.close();
    }
    assert.equal(offer.sent, offer.size);
    assert.equal(shards[2].first + shards[2].rows, VOCAB);
  });
}

for (const kind of KINDS) {
  test(`${kind}: rows in any order, and runs, are those of the file`, async (t) => {
    browser(t);
    const offer = new Offer();
    const store = await ModelStore.open({ kind });
    const model = await store.pull(offer.manifest, { read: offer.read, ...quick });
    const table = offer.files['embedding.bin'];
    const reader = await openShard(model.shards('embedding.bin')[1]);
    const indices = Int32Array.of(366, 0, 1, 2, 200, 128, 127, 0);
    const into = new Uint8Array(indices.length * ROW);
    await reader.readRows(indices, into);
    await reader.readRows(indices, into);
    indices.forEach((index, at) => {
      const start = (reader.first + index) * ROW;
      assert.deepEqual(into.subarray(at * ROW, (at + 1) * ROW), table.subarray(start, start + ROW));
    });
    for (const [start, count] of [
      [5, 1],
      [100, 200],
      [366, 1],
    ]) {
      const run = new Uint8Array(count * ROW);
      await reader.readRange(start, count, run);
      const first = (reader.first + start) * ROW;
      assert.deepEqual(run, table.subarray(first, first + run.length));
    }
    for (const wrong of [Int32Array.of(-1), Int32Array.of(367)]) {
      await assert.rejects(async () => reader.readRows(wrong, into), RangeError);
    }
    await assert.rejects(async () => reader.readRange(366, 2, into), RangeError);
    await assert.rejects(async () => reader.readRange(0, 20, into), RangeError);
    reader.close();
  });

  test(`${kind}: cut connections and a damaged chunk cost that chunk again and nothing else`, async (t) => {
    browser(t);
    const offer = new Offer();
    const faults = ['cut', 'damage', 'cut'];
    offer.spoil = ({ first }, bytes) => {
      const fault = first >= CHUNK ? faults.shift() : undefined;
      if (fault === 'cut') throw new ConnectionLost('cut');
      if (fault === 'damage') bytes[7] ^= 1;
      return bytes;
    };
    const store = await ModelStore.open({ kind });
    /** @type {(string|undefined)[]} */
    const waits = [];
    const onProgress = (/** @type {any} */ progress) => waits.push(progress.retrying?.code);
    await store.pull(offer.manifest, { read: offer.read, ...quick, onProgress });
    assert.deepEqual(waits.filter(Boolean), ['connection_lost', 'connection_lost']);
    assert.equal(offer.sent, offer.size + CHUNK);
    assert.deepEqual(await rowsOf(store, offer), offer.files['embedding.bin']);
  });

  test(`${kind}: what stays damaged or lost ends the download and keeps what came before`, async (t) => {
    browser(t);
    const offer = new Offer();
    const store = await ModelStore.open({ kind });
    offer.spoil = ({ first }, bytes) => (first === CHUNK ? bytes.fill(0) : bytes);
    const options = { read: offer.read, ...quick };
    await assert.rejects(store.pull(offer.manifest, options), { code: 'download_damaged' });
    assert.equal(offer.requests.filter(({ first }) => first === CHUNK).length, 4);
    offer.spoil = ({ first }, bytes) => {
      if (first === CHUNK) throw new ConnectionLost('cut');
      return bytes;
    };
    offer.requests.length = 0;
    await assert.rejects(store.pull(offer.manifest, options), { code: 'download_failed' });
    assert.equal(offer.requests.length, 6);
    offer.spoil = () => {
      throw new ServerRefused('weights_changed', 'gone');
    };
    await assert.rejects(store.pull(offer.manifest, options), { code: 'weights_changed' });
    assert.equal(await store.doneBytes(offer.digest), CHUNK);
    assert.deepEqual(
      (await store.list()).map(({ bytes, complete }) => [bytes, complete]),
      [[CHUNK, false]],
    );
    assert.equal(await store.find(offer.digest), null);
  });

  test(`${kind}: a paused download goes on with the shards that it was begun with`, async (t) => {
    browser(t);
    const offer = new Offer();
    const store = await ModelStore.open({ kind });
    const pausing = new AbortController();
    offer.spoil = ({ first }, bytes) => {
      if (first === 2 * CHUNK) pausing.abort();
      return bytes;
    };
    const { signal } = pausing;
    await assert.rejects(store.pull(offer.manifest, { read: offer.read, ...quick, signal }), {
      code: 'paused',
    });
    const sent = offer.sent;
    /** @type {any[]} */
    const steps = [];
    const onProgress = (/** @type {any} */ progress) => steps.push(progress);
    const model = await store.pull(offer.manifest, { read: offer.read, ...quick, shards: 7, onProgress });
    assert.equal(model.shards('embedding.bin').length, 3);
    assert.deepEqual(steps[0], { done: sent, total: offer.size, resumed: sent, retrying: null });
    assert.equal(steps.at(-1).done, offer.size);
    assert.equal(offer.sent, offer.size);
    await store.remove(offer.digest);
    assert.deepEqual(await store.list(), []);
    await assert.rejects(
      async () => openShard(model.shards('embedding.bin')[0]),
      kind === 'memory' ? Error : AppError,
    );
  });
}

test('opfs: after a crash between any two steps at most one chunk is sent again', async (t) => {
  for (let chunk = 0; chunk < 7; chunk += 1) {
    const { disk } = browser(t);
    const offer = new Offer();
    const store = await ModelStore.open({ kind: 'opfs' });
    offer.spoil = (_, bytes) => {
      if (offer.requests.length === chunk + 1) disk.crash();
      return bytes;
    };
    await assert.rejects(store.pull(offer.manifest, { read: offer.read, ...quick }), {
      code: 'store_failed',
    });
    await store.pull(offer.manifest, { read: offer.read, ...quick });
    assert.ok(offer.sent <= offer.size + CHUNK);
    assert.deepEqual(await rowsOf(store, offer), offer.files['embedding.bin']);
    assert.equal(disk.openHandles, 0);
  }
});

test('opfs: a quota is told before anything is fetched, and what is complete stays', async (t) => {
  const offer = new Offer();
  const { disk } = browser(t);
  const store = await ModelStore.open({ kind: 'opfs' });
  await store.pull(offer.manifest, { read: offer.read, ...quick });
  const other = new Offer(undefined, (document) => ({ ...document, num_layers: 3 }));
  disk.quota = disk.usage + other.size / 2;
  await assert.rejects(store.pull(other.manifest, { read: other.read, ...quick }), { code: 'storage_full' });
  assert.equal(other.sent, 0);
  assert.deepEqual(
    (await store.list()).map(({ digest }) => digest),
    [offer.digest],
  );
  assert.deepEqual(await rowsOf(store, offer), offer.files['embedding.bin']);
});

test('indexeddb: a transaction that finds no room keeps the chunks before it', async (t) => {
  browser(t);
  const offer = new Offer();
  const store = await ModelStore.open({ kind: 'indexeddb' });
  const put = IDBObjectStore.prototype.put;
  t.after(() => (IDBObjectStore.prototype.put = put));
  offer.spoil = ({ first }, bytes) => {
    if (first === 3 * CHUNK) {
      IDBObjectStore.prototype.put = () => {
        throw new DOMException('full', 'QuotaExceededError');
      };
    }
    return bytes;
  };
  await assert.rejects(store.pull(offer.manifest, { read: offer.read, ...quick }), { code: 'storage_full' });
  IDBObjectStore.prototype.put = put;
  assert.equal(await store.doneBytes(offer.digest), 3 * CHUNK);
  offer.spoil = (_, bytes) => bytes;
  await store.pull(offer.manifest, { read: offer.read, ...quick });
  assert.equal(offer.sent, offer.size + CHUNK);
  assert.deepEqual(await rowsOf(store, offer), offer.files['embedding.bin']);
});

test('opfs: a sealed model with a file of another size is not whole, and is fetched anew', async (t) => {
  const { disk } = browser(t);
  const offer = new Offer();
  const store = await ModelStore.open({ kind: 'opfs' });
  await store.pull(offer.manifest, { read: offer.read, ...quick });
  const largest = disk.files.reduce((a, b) => (a.bytes.length >= b.bytes.length ? a : b));
  largest.bytes = largest.bytes.slice(1);
  assert.equal(await store.find(offer.digest), null);
  await store.pull(offer.manifest, { read: offer.read, ...quick });
  assert.equal(offer.sent, 2 * offer.size);
  assert.deepEqual(await rowsOf(store, offer), offer.files['embedding.bin']);
});

for (const held of ['NoModificationAllowedError', 'InvalidStateError']) {
  test(`opfs: rows are read through a Blob where another tab holds the file alone (${held})`, async (t) => {
    browser(t, { disk: new FakeDisk({ sharedHandles: false, held }) });
    const offer = new Offer();
    const store = await ModelStore.open({ kind: 'opfs' });
    const model = await store.pull(offer.manifest, { read: offer.read, ...quick });
    const [descriptor] = model.shards('embedding.bin');
    const [first, second] = [await openShard(descriptor), await openShard(descriptor)];
    const [a, b] = [new Uint8Array(3 * ROW), new Uint8Array(3 * ROW)];
    assert.equal(first.readRows(Int32Array.of(7, 8, 1), a), undefined);
    await second.readRows(Int32Array.of(7, 8, 1), b);
    assert.deepEqual(a, b);
    first.close();
    second.close();
  });
}

for (const kind of /** @type {const} */ (['opfs', 'indexeddb'])) {
  test(`${kind}: a derived file counts once it is sealed, and is deleted with its shard`, async (t) => {
    browser(t);
    const offer = new Offer();
    const store = await ModelStore.open({ kind });
    const model = await store.pull(offer.manifest, { read: offer.read, ...quick });
    const [{ bytes: plain }] = await store.list();
    const reader = await openShard(model.shards('embedding.bin')[0]);
    const size = 70_001;
    const wanted = noise(size, 9);
    for (const seal of [false, true]) {
      const file = /** @type {any} */ (await reader.createDerived('plane4', size));
      for (let at = 0; at < size; at += 30_000) await file.write(at, wanted.subarray(at, at + 30_000));
      if (seal) await file.seal();
      file.close();
      const opened = await reader.openDerived('plane4', size);
      assert.equal(opened !== null, seal);
      opened?.close();
    }
    const found = /** @type {any} */ (await reader.openDerived('plane4', size));
    const into = new Uint8Array(40_000);
    await found.read(30_001, into);
    assert.deepEqual(into, wanted.subarray(30_001));
    found.close();
    assert.equal(await reader.openDerived('plane4', size - 1), null);
    await assert.rejects(async () => reader.createDerived('../x', 1), RangeError);
    assert.ok((await store.list())[0].bytes >= plain + size);
    const inUse = { code: 'model_in_use', message: /^“tiny” is in use by another tab;/ };
    await assert.rejects(model.dropDerived(), inUse);
    await assert.rejects(store.remove(offer.digest), inUse);
    reader.close();
    await model.dropDerived();
    assert.equal((await store.list())[0].bytes, plain);
  });
}

test('a download that another tab ended meanwhile is not begun anew', async (t) => {
  const { locks } = browser(t);
  const offer = new Offer();
  const [first, second] = [await ModelStore.open({ kind: 'opfs' }), await ModelStore.open({ kind: 'opfs' })];
  locks.patience = Infinity;
  const options = { read: offer.read, ...quick };
  const both = await Promise.all([first.pull(offer.manifest, options), second.pull(offer.manifest, options)]);
  assert.deepEqual(
    both.map((model) => model.manifest.digest),
    [offer.digest, offer.digest],
  );
  assert.equal(offer.sent, offer.size);
});

test('the best store that works is taken, and its kind says what it is', async (t) => {
  browser(t);
  assert.equal((await ModelStore.open()).kind, 'opfs');
  browser(t, { disk: null });
  assert.equal((await ModelStore.open()).kind, 'indexeddb');
  browser(t, { disk: new FakeDisk({ handles: false }) });
  assert.equal((await ModelStore.open()).kind, 'indexeddb');
  const full = browser(t, { disk: new FakeDisk({ quota: 0 }) });
  assert.equal((await ModelStore.open()).kind, 'opfs');
  assert.deepEqual(full.disk.openHandles, 0);
  browser(t, { disk: null, indexedDB: false });
  const store = await ModelStore.open();
  assert.equal(store.kind, 'memory');
  assert.equal(await store.free(), null);
  await assert.rejects(ModelStore.open({ kind: 'indexeddb' }), { code: 'store_failed' });
});

test('a server that asks for patience gets it, within reason', async (t) => {
  browser(t);
  const offer = new Offer();
  const busy = [7, 100_000, null];
  offer.spoil = (_, bytes) => {
    if (busy.length) throw new ConnectionLost('busy', busy.shift());
    return bytes;
  };
  /** @type {number[]} */
  const waits = [];
  const pause = async (/** @type {number} */ seconds) => void waits.push(seconds);
  const store = await ModelStore.open({ kind: 'memory' });
  await store.pull(offer.manifest, { read: offer.read, ...quick, pause });
  assert.deepEqual(waits, [7, 60, 1]);
});

/** @param {ModelStore} store @param {Offer} offer */
async function rowsOf(store, offer) {
  const model = await store.find(offer.digest);
  const parts = [];
  for (const descriptor of model?.shards('embedding.bin') ?? []) {
    const reader = await openShard(descriptor);
    const bytes = new Uint8Array(reader.rows * ROW);
    await reader.readRange(0, reader.rows, bytes);
    reader.close();
    parts.push(bytes);
  }
  return new Uint8Array(await new Blob(parts).arrayBuffer());
}
