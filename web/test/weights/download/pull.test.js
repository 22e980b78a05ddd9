import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ConnectionLost } from '../../../src/weights/errors.js';
import { ModelStore } from '../../../src/weights/store.js';
import { CHUNK, Offer } from '../offers.js';

/** @typedef {import('../../../src/weights/download/http_reader.js').ReadBytes} ReadBytes */

/**
 * Pulls while a clock of its own goes `step` ms with every look; gives what was told, and the offer.
 * @param {(read: ReadBytes) => ReadBytes} changed how the offer is read @param {number} [step]
 */
async function pulled(changed, step = 1000) {
  const store = await ModelStore.open({ kind: 'memory' });
  const offer = new Offer();
  let time = 0;
  /** @type {any[]} */
  const told = [];
  const now = () => (time += step);
  const onProgress = (/** @type {any} */ progress) => told.push(progress);
  const read = changed(inQuarters(offer));
  const clock = { now, later: () => () => {} };
  await store.pull(offer.manifest, { read, shards: 1, pause: async () => {}, chance: () => 0, onProgress, clock });
  return { told, offer };
}

/** @param {Offer} offer @returns {ReadBytes} */
const inQuarters = (offer) => async (name, first, last, signal, onReceived = () => {}) => {
  for (let quarter = 0; quarter < 4; quarter++) onReceived((quarter * (last - first + 1)) >> 2);
  return offer.read(name, first, last);
};

const unchanged = (/** @type {ReadBytes} */ read) => read;

test('bytes are told as they come, and each once', async () => {
  const { told, offer } = await pulled(unchanged);
  const done = told.map((progress) => progress.done);
  assert.deepEqual(done.slice(0, 5), [0, CHUNK / 4, CHUNK / 2, (3 * CHUNK) / 4, CHUNK]);
  assert.deepEqual(done, done.toSorted((a, b) => a - b));
  assert.equal(done.at(-1), offer.size);
});

test('what comes faster than anybody looks is told together', async () => {
  const { told, offer } = await pulled(unchanged, 0.001);
  // The beginning, and the end of each chunk.
  assert.equal(told.length, 1 + offer.requests.length);
});

test('what a lost connection has brought stays counted while it is tried again', async () => {
  let tries = 0;
  const { told } = await pulled((read) => async (name, first, last, signal, onReceived = () => {}) => {
    if (tries++ > 1) return read(name, first, last, signal, onReceived);
    onReceived(tries === 1 ? 0 : 1000);
    if (tries === 2) return read(name, first, last, signal);
    onReceived(1000);
    throw new ConnectionLost('cut');
  });
  assert.deepEqual(told.slice(0, 4).map(({ done, retrying }) => [done, retrying?.code]),
    [[0, undefined], [1000, undefined], [1000, 'connection_lost'], [1000, undefined]]);
});

test('a chunk that is not the manifest’s is not counted', async () => {
  let damaged = true;
  const { told, offer } = await pulled((read) => async (...range) => {
    const bytes = await read(...range);
    if (damaged) bytes[7] ^= 1;
    damaged = false;
    return bytes;
  });
  assert.deepEqual(told.slice(3, 6).map(({ done }) => done), [(3 * CHUNK) / 4, 0, CHUNK / 4]);
  assert.equal(told.at(-1).done, offer.size);
});
