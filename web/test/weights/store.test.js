import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openShard } from '../../src/weights/shard.js';
import { ModelStore } from '../../src/weights/store.js';
import { browser } from './fakes/browser.js';
import { HIDDEN, Offer, VOCAB } from './offers.js';

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
    assert.deepEqual(shards.map(({ first, rows }) => [first, rows]), [[0, 366], [366, 367], [733, 367]]);
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
