import assert from 'node:assert/strict';
import { test } from 'node:test';
import { IDBFactory } from 'fake-indexeddb';
import { calibrate } from '../../src/noise/calibration.js';
import { NoiseDatabase } from '../../src/noise/database.js';
import { epsilonOf } from '../../src/noise/mechanism/gaussian.js';
import { NoiseMode, NoiseRecords } from '../../src/noise/mode.js';
import './device.js';
import { MODEL, apart, floats, vectors } from './vectors.js';

const { rows: hex, width, clip, distance } = vectors.tables[0];
const VALUES = floats(hex);
const ROWS = VALUES.length / width;

/** @param {string} [sha256] */
function tableOf(sha256 = 'cd'.repeat(32)) {
  const read = { times: 0 };
  const clean = async (/** @type {number[]} */ ids) => {
    read.times += 1;
    return Float32Array.from(ids.flatMap((id) => [...VALUES.subarray(id * width, (id + 1) * width)]));
  };
  return { read, table: { clean, rows: ROWS, width, sha256, scale: null } };
}

const database = (factory = new IDBFactory()) => new NoiseDatabase({ factory: /** @type {any} */ (factory) });

/** @param {object} settings @param {Record<string, number>} [generation] */
function opened(settings, generation = {}, records = new NoiseRecords(database())) {
  return NoiseMode.open(records, { settings, table: tableOf().table, model: MODEL, generation });
}

test('a table is searched once for each norm, and not again at another visit', async () => {
  const factory = new IDBFactory();
  const { table, read } = tableOf();
  const found = await calibrate(table, null, database(factory));
  assert.equal(found.clip, clip);
  assert.ok(found.exact && apart(found.sensitivity, distance) < 1e-9);
  const times = read.times;
  assert.deepEqual(await calibrate(table, null, database(factory)), found);
  assert.equal(read.times, times);
  await calibrate(table, clip / 2, database(factory));
  assert.ok(read.times > times);
});

test('numbers of another table or that were changed are searched again', async () => {
  const factory = new IDBFactory();
  const { table, read } = tableOf();
  const found = await calibrate(table, null, database(factory));
  const other = tableOf('ef'.repeat(32));
  await calibrate(other.table, null, database(factory));
  assert.ok(other.read.times > 0);
  await database(factory).run('readwrite', async (stores) => {
    const name = `1 ${table.sha256} ${ROWS} ${width} null`;
    const request = stores('tables').get(name);
    await new Promise((resolve) => (request.onsuccess = resolve));
    const text = request.result.text.replace('quantile', 'quantilf');
    stores('tables').put({ ...request.result, text }, name);
  });
  const { times } = read;
  assert.deepEqual(await calibrate(table, null, database(factory)), found);
  assert.ok(read.times > times);
});

test('a search that takes too long gives a bound, which is kept as one', async () => {
  const factory = new IDBFactory();
  const { table, read } = tableOf();
  const options = { mostProducts: 10 };
  const found = await calibrate(table, 1.5, database(factory), options);
  const whole = await calibrate(table, 1.5, database());
  assert.ok(!found.exact && whole.exact);
  assert.ok(whole.sensitivity <= found.sensitivity && found.sensitivity <= 3);
  const { times } = read;
  assert.deepEqual(await calibrate(table, 1.5, database(factory), options), found);
  assert.equal(read.times, times);
});

test('a table that hides nothing is refused', async () => {
  const { table } = tableOf();
  const clean = async (/** @type {number[]} */ ids) => new Float32Array(ids.length * width);
  const told = { code: 'noise_setting_invalid', message: /all zeros/ };
  await assert.rejects(calibrate({ ...table, clean }, null, database()), told);
});

test('an epsilon is that of one token at the table\'s own sensitivity', async () => {
  const mode = await opened({ epsilon: 2, delta: 1e-6, clip: 3 });
  const { sensitivity, sigma, token, exact, delta } = await mode.status('chat');
  assert.ok(exact && sensitivity < 6 && delta === 1e-6);
  assert.ok(epsilonOf(1e-6, sensitivity / sigma) < 2);
  assert.ok(Math.abs(token - 2) < 1e-6);
});

test('both units of a chat and of everything are told, and what a budget has room for', async () => {
  const records = new NoiseRecords(database());
  const mode = await opened({ epsilon: 2, budget: 50 }, {}, records);
  const nothing = { rows: 0, sendings: 0, token: 0, whole: 0 };
  assert.deepEqual((await mode.status('one')).all, nothing);
  const one = await mode.conversation('one');
  await one.rows([1, 2, 3, 4, 5, 6, 7, 8, 9, 10], 0, 10, 'f32');
  await one.rows([1, 9, 3], 0, 3, 'f32');
  const two = await mode.conversation('two');
  await two.rows([1], 0, 1, 'f32');
  await two.close();
  const { chat, all, budget, token } = await mode.status('one');
  assert.deepEqual([chat.rows, chat.sendings, all.rows, all.sendings], [12, 2, 13, 3]);
  assert.ok(token < chat.token && chat.token < chat.whole && chat.whole < all.whole);
  assert.equal(budget?.spent, all.whole);
  assert.ok((budget?.room ?? 0) > 0);
  assert.deepEqual((await mode.status('three')).chat, nothing);
});

test('rows ahead that are given back while the totals are read are never taken off twice', async () => {
  const records = new NoiseRecords(database());
  const mode = await opened({ sigma: 1 }, {}, records);
  const chat = await mode.conversation('one');
  await chat.rows([1, 2], 0, 2, 'f32');
  await chat.rows([1, 2, 3], 2, 3, 'f32');
  assert.equal(chat.ahead, 64);
  assert.equal((await mode.status('one', () => chat.ahead)).all.rows, 3);
  const closing = chat.close();
  const asked = [64, 0];
  const during = mode.status('one', () => asked.shift() ?? 0);
  await closing;
  const { all, chat: own } = await during;
  assert.deepEqual([all.rows >= 3, own.rows >= 3], [true, true]);
});

test('what noise rules out is refused, and the model\'s own penalty is off', async () => {
  const mode = await opened({ sigma: 1 }, { repetition_penalty: 1.1, temperature: 0.5 });
  assert.deepEqual(mode.generation, { repetition_penalty: 1, temperature: 0.5 });
  assert.equal((await mode.status('chat')).ownPenalty, 1.1);
  const params = /** @type {any} */ ({ repetitionPenalty: 1, presencePenalty: 1 });
  for (const named of ['banking', 'banking@http://host:8097', 'automatic', null]) mode.require(params, named);
  assert.throws(() => mode.require({ ...params, repetitionPenalty: 1.1 }, null), { code: 'noise_forbids' });
  for (const auto of ['auto', 'auto@http://host:8097']) {
    assert.throws(() => mode.require(params, auto), { code: 'noise_forbids' });
  }
});

test('settings of which no noise can be made are refused in words', async () => {
  const refused = [
    {}, { epsilon: 1, sigma: 1 }, { epsilon: 0 }, { sigma: NaN }, { sigma: 1, clip: -1 },
    { epsilon: 1, budget: Infinity }, { epsilon: 1, delta: 1 }, { sigma: 1e-12 }, { epsilon: 1e-9, delta: 1e-12 },
  ];
  for (const settings of refused) {
    await assert.rejects(opened(settings), { code: 'noise_setting_invalid' }, JSON.stringify(settings));
  }
});
