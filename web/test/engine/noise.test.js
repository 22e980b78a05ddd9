import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { IDBFactory, IDBKeyRange } from 'fake-indexeddb';
import { Noise } from '../../src/engine/noise.js';

const WIDTH = 3;
const settled = () => new Promise((resolve) => setImmediate(resolve));

beforeEach(() => Object.assign(globalThis, { indexedDB: new IDBFactory(), IDBKeyRange }));

/** A model of 20 rows, and how often they were read. */
function modelOf() {
  const read = { times: 0 };
  const manifest = {
    digest: 'ab'.repeat(32), hiddenSize: WIDTH, generation: { repetition_penalty: 1.2 },
    embedding: { file: 'e', rows: 20, scale: null }, files: [{ name: 'e', sha256: 'cd'.repeat(32) }],
  };
  const rows = async (/** @type {number[]} */ ids, /** @type {string} */ dtype) => {
    assert.equal(dtype, 'f32');
    read.times += 1;
    return Float32Array.from(ids.flatMap((id) => [id, 1, -1]));
  };
  return { read, model: /** @type {any} */ ({ manifest, rows }) };
}

test('the same settings share one mode, and others share what the table was searched for', async () => {
  const alone = modelOf();
  await new Noise(() => {}).mode({ sigma: 1 }, alone.model);
  // What it kept there would spare the next one its search.
  Object.assign(globalThis, { indexedDB: new IDBFactory() });
  const { read, model } = modelOf();
  /** @type {any[]} */
  const notices = [];
  const noise = new Noise((notice) => notices.push(notice));
  const [one, two] = await Promise.all([noise.mode({ sigma: 1 }, model), noise.mode({ sigma: 2 }, model)]);
  assert.notEqual(one, two);
  const { times } = read;
  assert.equal(await noise.mode({ sigma: 1 }, model), one);
  await noise.mode({ epsilon: 3 }, model);
  assert.equal(read.times, times);
  assert.equal(times, alone.read.times);
  assert.deepEqual(notices.at(-1), { type: 'calibrating', done: 1 });
  assert.equal(one.generation.repetition_penalty, 1);
});

test('settings of which no noise can be made are told each time', async () => {
  const { model } = modelOf();
  const noise = new Noise(() => {});
  for (let i = 0; i < 2; i++) {
    await assert.rejects(noise.mode({ sigma: -1 }, model), { code: 'noise_setting_invalid' });
  }
  await noise.mode({ sigma: 1 }, model);
});

test('a search that breaks off is told to be over', async () => {
  const { model } = modelOf();
  model.manifest.embedding.rows = 40_000;
  let reads = 0;
  const { rows } = model;
  model.rows = async (/** @type {number[]} */ ids, /** @type {string} */ dtype) => {
    reads += 1;
    if (reads === 2) throw new Error('gone');
    return rows(ids, dtype);
  };
  /** @type {any[]} */
  const notices = [];
  const noise = new Noise((notice) => notices.push(notice));
  await assert.rejects(noise.mode({ sigma: 1 }, model));
  await settled();
  assert.ok(notices.length >= 2 && notices[0].done < 1);
  assert.deepEqual(notices.at(-1), { type: 'calibrating', done: 1 });
});

test('a reply that is stopped does not wait for a search', async () => {
  const { model } = modelOf();
  const noise = new Noise(() => {});
  const abort = new AbortController();
  const waiting = noise.mode({ sigma: 1 }, { ...model, rows: () => new Promise(() => {}) }, abort.signal);
  abort.abort();
  await assert.rejects(waiting, { code: 'cancelled' });
});

test('a chat that is forgotten needs no model', async () => {
  await new Noise(() => {}).forget('chat');
});

test('of the settings that were typed on the way only the last ones are kept', async () => {
  const { model } = modelOf();
  const noise = new Noise(() => {});
  const used = await noise.mode({ sigma: 1 }, model);
  const early = await noise.mode({ sigma: 2 }, model);
  for (let i = 0; i < 40; i++) {
    await noise.mode({ sigma: 3 + i }, model);
    assert.equal(await noise.mode({ sigma: 1 }, model), used);
  }
  assert.notEqual(await noise.mode({ sigma: 2 }, model), early);
});
