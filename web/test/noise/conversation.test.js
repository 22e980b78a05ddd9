import assert from 'node:assert/strict';
import { test } from 'node:test';
import { KeptChat } from '../../src/noise/kept_chat.js';
import { Device, WIDTH, clean } from './device.js';
import { hexOf } from './vectors.js';

/** @param {Float32Array} rows */
const bits = (rows) => hexOf(new Uint8Array(rows.buffer));
const TOKENS = [1, 2, 3];

test('a resend repeats its bytes and spends nothing', async () => {
  const device = new Device();
  const conversation = await device.conversation();
  const first = await conversation.rows(TOKENS, 0, 3, 'f32');
  assert.equal(bits(await conversation.rows(TOKENS, 0, 3, 'f32')), bits(first));
  assert.equal(bits(await conversation.rows([...TOKENS, 4], 0, 3, 'f32')), bits(first));
  assert.deepEqual([conversation.spent.rows, conversation.spent.sendings], [4, 1]);
  assert.notEqual(bits(first), bits(await clean(TOKENS)));
});

test('that holds across a visit of the page', async () => {
  const device = new Device();
  const before = await device.conversation();
  const first = await before.rows(TOKENS, 0, 3, 'f32');
  await before.rows([...TOKENS, 4], 3, 4, 'f32');
  await before.close();
  const later = new Device({ factory: device.factory });
  const after = await later.conversation();
  assert.equal(bits(await after.rows([...TOKENS, 4], 0, 3, 'f32')), bits(first));
  await after.close();
  assert.deepEqual([await later.counted(), after.spent.rows], [4, 4]);
});

test('another chat has another key, and its rows count again', async () => {
  const device = new Device();
  const one = await device.conversation('one');
  const two = await device.conversation('two');
  const rows = [await one.rows(TOKENS, 0, 3, 'f32'), await two.rows(TOKENS, 0, 3, 'f32')];
  assert.notEqual(bits(rows[0]), bits(rows[1]));
  assert.equal(await device.counted(), 6);
});

test('a chat that is forgotten has another key when it comes back', async () => {
  const device = new Device();
  const before = await device.conversation();
  const first = await before.rows(TOKENS, 0, 3, 'f32');
  await KeptChat.forget(device.database, 'chat');
  const after = await device.conversation();
  assert.notEqual(bits(await after.rows(TOKENS, 0, 3, 'f32')), bits(first));
  assert.equal(await device.counted(), 6);
  await assert.rejects(before.rows([9], 0, 1, 'f32'), { code: 'ledger_failed', message: /deleted meanwhile/ });
});

test('another sigma has other noise and counts again', async () => {
  const device = new Device();
  const first = await (await device.conversation()).rows(TOKENS, 0, 3, 'f32');
  const other = new Device({ factory: device.factory, sigma: 2.5 });
  assert.notEqual(bits(await (await other.conversation()).rows(TOKENS, 0, 3, 'f32')), bits(first));
  assert.equal(await device.counted(), 6);
});

test('a chat goes in one dtype, and another is refused before anything is counted', async () => {
  const device = new Device();
  await (await device.conversation()).rows(TOKENS, 0, 3, 'bf16');
  const later = await new Device({ factory: device.factory }).conversation();
  assert.equal(later.dtype, 'bf16');
  await assert.rejects(later.rows([...TOKENS, 4], 0, 4, 'f16'), { code: 'noise_dtype_changed' });
  assert.equal(await device.counted(), 3);
});

test('two tabs cannot send one chat in two dtypes', async () => {
  const device = new Device();
  const one = await device.conversation();
  const two = await new Device({ factory: device.factory }).conversation();
  await one.rows(TOKENS, 0, 3, 'bf16');
  await assert.rejects(two.rows(TOKENS, 0, 3, 'f16'), { code: 'noise_dtype_changed' });
  assert.equal(await device.counted(), 3);
});

test('text behind a change has other noise where it is the same, and a token may be sent twice', async () => {
  const device = new Device();
  const conversation = await device.conversation();
  const first = await conversation.rows([1, 2, 3], 0, 3, 'f32');
  const edited = await conversation.rows([1, 9, 3], 0, 3, 'f32');
  assert.equal(bits(first.slice(0, WIDTH)), bits(edited.slice(0, WIDTH)));
  assert.notEqual(bits(first.slice(2 * WIDTH)), bits(edited.slice(2 * WIDTH)));
  assert.deepEqual([conversation.spent.rows, conversation.spent.sendings], [5, 2]);
});

test('a token that is chosen in the place of another is one more row, and counts as one', async () => {
  const device = new Device();
  const conversation = await device.conversation();
  await conversation.rows(TOKENS, 0, 3, 'f32');
  await conversation.rows([1, 2, 9], 2, 3, 'f32');
  await conversation.rows([1, 2, 9], 2, 3, 'f32');
  assert.deepEqual([conversation.spent.rows, conversation.spent.sendings], [4, 2]);
});

test('a prompt in parts is recorded whole before its first part', async () => {
  const device = new Device();
  const conversation = await device.conversation();
  const tokens = [1, 2, 3, 4];
  const parts = [await conversation.rows(tokens, 0, 2, 'f32')];
  assert.equal(await device.counted(), 4);
  parts.push(await conversation.rows(tokens, 2, 4, 'f32'));
  const whole = await conversation.rows(tokens, 0, 4, 'f32');
  assert.equal(await device.counted(), 4);
  assert.equal(parts.map(bits).join(''), bits(whole));
});

test('nothing leaves beyond the budget, and what is left can be used', async () => {
  const device = new Device({ budget: 150 });
  const room = /** @type {any} */ (device.budget).room(await device.ledger.spent('default'), device.kind, 1000);
  assert.ok(room > 3 && room < 60);
  const conversation = await device.conversation();
  const tokens = Array.from({ length: room }, (_, i) => i);
  await assert.rejects(conversation.rows([...tokens, 5], 0, 1, 'f32'), { code: 'budget_exhausted' });
  assert.equal(await device.counted(), 0);
  await conversation.rows(tokens.slice(0, 2), 0, 2, 'f32');
  for (let n = 3; n <= room; n++) await conversation.rows(tokens.slice(0, n), n - 1, n, 'f32');
  await assert.rejects(conversation.rows([...tokens, 5], room, room + 1, 'f32'), { code: 'budget_exhausted' });
  assert.equal(conversation.spent.rows, room);
});

test('rows of a reply are recorded in advance, and what was not sent is given back', async () => {
  const device = new Device();
  const conversation = await device.conversation();
  await conversation.rows(TOKENS, 0, 3, 'f32');
  for (let n = 4; n < 10; n++) await conversation.rows(TOKENS.concat(Array(n - 3).fill(7)), n - 1, n, 'f32');
  assert.equal(await device.counted(), 3 + 65);
  assert.equal(conversation.spent.rows, 9);
  await conversation.close();
  await conversation.close();
  assert.deepEqual([await device.counted(), conversation.spent.rows], [9, 9]);
});

test('a page that dies leaves more counted than was sent, in the ledger and in its chat', async () => {
  const device = new Device();
  const conversation = await device.conversation();
  await conversation.rows(TOKENS, 0, 3, 'f32');
  await conversation.rows([...TOKENS, 7], 3, 4, 'f32');
  const later = new Device({ factory: device.factory });
  assert.equal(await later.counted(), 3 + 65);
  assert.equal((await KeptChat.spentBy(later.database, 'chat')).rows, 3 + 65);
});

test('names of releases that are lost make rows count twice', async () => {
  const device = new Device();
  await (await device.conversation()).rows(TOKENS, 0, 3, 'f32');
  await device.alter('releases', ['chat', 0], (block) => block.slice(0, 40));
  const later = await new Device({ factory: device.factory }).conversation();
  await later.rows(TOKENS, 0, 3, 'f32');
  await later.close();
  assert.equal(await device.counted(), 4);
});

test('a ledger that fails lets nothing out', async () => {
  const device = new Device();
  const conversation = await device.conversation();
  await conversation.rows(TOKENS, 0, 3, 'f32');
  await device.alter('ledger', 'ledger', () => undefined);
  await assert.rejects(conversation.rows([...TOKENS, 4], 3, 4, 'f32'), { code: 'ledger_damaged' });
  assert.equal(conversation.spent.rows, 3);
});

test('noise that a dtype cannot hold is told before anything is counted', async () => {
  const device = new Device({ sigma: 2000 });
  const conversation = await device.conversation();
  await assert.rejects(conversation.rows(TOKENS, 0, 3, 'f16'), { code: 'noise_overflows' });
  assert.equal(await device.counted(), 0);
  await conversation.rows(TOKENS, 0, 3, 'bf16');
});

test('numbers beyond any dtype are told before anything is counted, and leave a ledger that can be read', async () => {
  for (const sigma of [1e37, 1e300]) {
    const device = new Device({ sigma });
    const conversation = await device.conversation();
    for (const dtype of /** @type {const} */ (['f32', 'bf16', 'i8'])) {
      await assert.rejects(conversation.rows(TOKENS, 0, 3, dtype), { code: 'noise_overflows' });
    }
    assert.equal(await device.counted(), 0);
  }
});

test('a reply that ends while a charge is under way gives nothing back twice', async () => {
  const device = new Device();
  const conversation = await device.conversation();
  await conversation.rows(TOKENS, 0, 3, 'f32');
  await conversation.rows([...TOKENS, 7], 3, 4, 'f32');
  const edited = conversation.rows([9, 8], 0, 2, 'f32');
  await conversation.close();
  await edited;
  await conversation.close();
  assert.equal(await device.counted(), 4 + 2);
});
