import assert from 'node:assert/strict';
import { test } from 'node:test';
import { NoiseDatabase } from '../../../src/noise/database.js';
import { Ledger } from '../../../src/noise/ledger/ledger.js';
import { Budget } from '../../../src/noise/ledger/spent.js';
import { Device, HOLDER } from '../device.js';

const KIND = { sigma: 2, distance: 6, width: 4 };
const alone = { ahead: 0, budget: null, beside: async () => {} };

/** @param {Ledger} ledger @param {number} rows @param {object} [also] */
const charge = (ledger, rows, also = {}) =>
  ledger.charge(HOLDER, KIND, { rows, sendings: 1 }, { ...alone, ...also });

test('counts of all models and visits add up', async () => {
  const device = new Device();
  await charge(device.ledger, 3);
  await device.ledger.charge({ ...HOLDER, model: 'other' }, KIND, { rows: 2, sendings: 1 }, alone);
  await device.ledger.charge({ ...HOLDER, identity: 'somebody' }, KIND, { rows: 9, sendings: 1 }, alone);
  const later = new Device({ factory: device.factory });
  const spent = await later.ledger.spent('default');
  assert.deepEqual([spent.rows, spent.sendings], [5, 2]);
});

test('two tabs at once lose no charge', async () => {
  const one = new Device();
  const two = new Device({ factory: one.factory });
  await Promise.all([one, two, one, two, two].map(({ ledger }) => charge(ledger, 7)));
  assert.equal(await one.counted(), 35);
});

test('what a budget has no room for is not counted, and the error says what is left', async () => {
  const { ledger } = new Device();
  const budget = new Budget(200, 1e-5);
  const room = budget.room(await ledger.spent('default'), KIND, 1000);
  await charge(ledger, room - 1, { budget });
  await assert.rejects(charge(ledger, 5, { budget }), (/** @type {any} */ error) =>
    error.code === 'budget_exhausted' && error.room === 1 && / room for 1 of the 5 /.test(error.message));
  assert.equal(await charge(ledger, 1, { budget, ahead: 64 }), 0);
  assert.equal((await ledger.spent('default')).rows, room);
});

test('rows ahead stay within the budget and are given back', async () => {
  const { ledger } = new Device();
  assert.equal(await charge(ledger, 1, { ahead: 64 }), 64);
  await ledger.giveBack(HOLDER, KIND, 60, alone.beside);
  assert.equal((await ledger.spent('default')).rows, 5);
  await assert.rejects(ledger.giveBack(HOLDER, KIND, 6, alone.beside), { code: 'ledger_damaged' });
});

test('what is written beside fails together with the charge', async () => {
  const device = new Device();
  const beside = async () => {
    throw new TypeError('no');
  };
  await assert.rejects(charge(device.ledger, 3, { beside }), { code: 'ledger_failed' });
  assert.equal(await device.counted(), 0);
});

test('a damaged ledger stops everything and stays as it is', async () => {
  const broken = [
    (/** @type {any} */ d) => ({ ...d, spent: d.spent.replace('"rows":3', '"rows":2') }),
    (/** @type {any} */ d) => ({ ...d, version: 2 }),
    (/** @type {any} */ d) => ({ ...d, format: 'other' }),
    () => 'text',
  ];
  for (const change of broken) {
    const device = new Device();
    await charge(device.ledger, 3);
    await device.alter('ledger', 'ledger', change);
    const later = new Device({ factory: device.factory });
    await assert.rejects(later.ledger.spent('default'), { code: 'ledger_damaged' });
    await assert.rejects(charge(later.ledger, 1), { code: 'ledger_damaged' });
    /** @type {any} */
    let kept;
    await device.alter('ledger', 'ledger', (now) => (kept = now));
    assert.ok(kept === 'text' || kept.version === 2 || kept.format === 'other' || kept.spent.includes('"rows":2'));
  }
});

test('a ledger that disappears under a page is not a new beginning', async () => {
  const device = new Device();
  await charge(device.ledger, 3);
  await device.alter('ledger', 'ledger', () => undefined);
  await assert.rejects(charge(device.ledger, 1), { code: 'ledger_damaged', message: /disappeared/ });
});

test('a browser without a database sends nothing with noise', async () => {
  const ledger = new Ledger(new NoiseDatabase({ factory: null }));
  await assert.rejects(charge(ledger, 1), { code: 'ledger_failed' });
});

test('another tab that holds the ledger is waited for and told', async () => {
  const one = new Device();
  await charge(one.ledger, 1);
  const two = new Ledger(new NoiseDatabase({ factory: /** @type {any} */ (one.factory), patience: 30 }));
  await two.spent('default');
  let free = () => {};
  const freed = new Promise((resolve) => (free = () => resolve(undefined)));
  let held = false;
  const holding = one.database.run('readwrite', async (stores) => {
    void freed.then(() => (held = false));
    held = true;
    // Requests keep a transaction open.
    while (held) await new Promise((resolve) => (stores('tables').get('x').onsuccess = resolve));
  });
  await assert.rejects(charge(two, 1), { code: 'ledger_busy' });
  free();
  await holding;
  assert.equal(await one.counted(), 1);
});
