import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Embedding } from '../../src/generation/embedding.js';

const HIDDEN = 2;
const TABLE = Float32Array.of(1, -2.5, 3.0000002, 1e-8, 70_000, 0.1);

/** @param {Int32Array} ids */
async function rows(ids) {
  return Float32Array.from([...ids].flatMap((id) => [...TABLE.subarray(id * HIDDEN, (id + 1) * HIDDEN)]));
}

test('rows come in the order asked for, rounded to what travels', async () => {
  const embedding = new Embedding(rows, HIDDEN, null, 'bf16', 3);
  assert.deepEqual(await embedding.lookup([1, 0, 1], 'f32'), await rows(Int32Array.of(1, 0, 1)));
  // 3.0000002 and 1e-8 in bfloat16.
  assert.deepEqual(await embedding.lookup([1], 'bf16'), Float32Array.of(3, 2 ** -27 * 1.34375));
});

test('row, scale and product are each rounded to the dtype of the session', async () => {
  const embedding = new Embedding(rows, HIDDEN, Math.sqrt(1152), 'bf16', 3);
  // sqrt(1152) = 33.94 is 34 in bfloat16, and -2.5 * 34 = -85.
  assert.deepEqual(await embedding.lookup([0], 'bf16'), Float32Array.of(34, -85));
});

test('for i8 the rows stay as they are in float32', async () => {
  const embedding = new Embedding(rows, HIDDEN, null, 'f32', 3);
  assert.deepEqual(await embedding.lookup([1], 'i8'), await rows(Int32Array.of(1)));
});

test('the table that is read is not written to', async () => {
  const shared = Float32Array.of(1, 2);
  await new Embedding(async () => shared, HIDDEN, 3, 'f32').lookup([0], 'f32');
  assert.deepEqual(shared, Float32Array.of(1, 2));
});

test('what overflows on the wire is refused by its token', async () => {
  const embedding = new Embedding(rows, HIDDEN, null, 'f32', 3);
  await assert.rejects(embedding.lookup([0, 2], 'f16'), { code: 'not_representable', token: 2 });
});

test('ids without a row and unknown dtypes are refused before anything is read', async () => {
  const unread = () => assert.fail('read');
  const embedding = new Embedding(unread, HIDDEN, null, 'f32', 3);
  for (const id of [-1, 3, 0.5, NaN]) {
    await assert.rejects(embedding.lookup([0, id], 'f32'), { code: 'token_id_out_of_range' });
  }
  await assert.rejects(embedding.lookup([0], /** @type {any} */ ('f8')), { code: 'unknown_float' });
  const made = () => new Embedding(unread, HIDDEN, null, /** @type {any} */ ('i8'));
  assert.throws(made, { code: 'unknown_float' });
});
