import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ClientProtocol } from '../../src/protocol/client.js';
import { PrefixChain } from '../../src/protocol/digest.js';
import { narrow, roundTo, widen } from '../../src/protocol/floats.js';
import { encodeMessage } from '../../src/protocol/messages.js';
import { decodeClientMessage, decodeServerMessage } from '../../src/protocol/parsing.js';
import { encodeServerMessage } from '../../src/protocol/server_messages.js';
import { Tensor } from '../../src/protocol/tensor.js';
import { VECTORS, describe, fromBits, hex, toBits, unhex } from './vectors.js';

const LIMIT = 1 << 20;
/** @type {Record<string, (bytes: Uint8Array, limit: number) => any>} */
const READERS = { server: decodeClientMessage, device: decodeServerMessage };
/** @type {Record<string, (message: any) => Uint8Array>} */
const WRITERS = { server: encodeMessage, device: encodeServerMessage };

for (const vector of [...VECTORS.messages, ...VECTORS.tolerated]) {
  test(`the ${vector.to} reads: ${vector.name}`, () => {
    assert.deepEqual(describe(READERS[vector.to](unhex(vector.frame), LIMIT)), vector.fields);
  });
}

for (const vector of VECTORS.messages) {
  test(`what was read is written byte by byte: ${vector.name}`, () => {
    const message = READERS[vector.to](unhex(vector.frame), LIMIT);
    assert.equal(hex(WRITERS[vector.to](message)), vector.frame);
  });
}

test('a frame reads the same at an odd place of its buffer', () => {
  for (const vector of VECTORS.messages) {
    const bytes = unhex(vector.frame);
    const shifted = new Uint8Array(bytes.length + 3).subarray(3);
    shifted.set(bytes);
    assert.deepEqual(describe(READERS[vector.to](shifted, LIMIT)), vector.fields);
  }
});

for (const vector of VECTORS.malformed) {
  const readers = vector.to === 'either' ? Object.keys(READERS) : [vector.to];
  for (const reader of readers) {
    test(`the ${reader} refuses ${vector.name} as ${vector.error}`, () => {
      const read = () => READERS[reader](unhex(vector.frame), vector.max_bytes);
      assert.throws(read, { code: vector.error });
    });
  }
}

test('a device that hears the answers sends the frames of the conversation', () => {
  const { hidden_size: hiddenSize, manifest, steps, frames } = VECTORS.conversation;
  const device = new ClientProtocol(hiddenSize, manifest);
  assert.equal(hex(device.open()), frames[0].frame);
  assert.equal(device.receive(unhex(frames[1].frame)).type, 'opened');
  steps.forEach((/** @type {any} */ step, /** @type {number} */ i) => {
    const rows = Float32Array.from(step.rows.flat());
    assert.equal(hex(device.step(step.start, rows)), frames[2 + 2 * i].frame);
    assert.equal(device.receive(unhex(frames[3 + 2 * i].frame)).type, 'completed');
  });
  assert.equal(hex(/** @type {Uint8Array} */ (device.close())), frames.at(-2).frame);
});

test('a device believes of a server what its own names prove', () => {
  const { hidden_size: hiddenSize, manifest, dtype, cache_salt: cacheSalt, rows, acts } = VECTORS.resumption;
  const device = new ClientProtocol(hiddenSize, manifest, dtype, { cacheSalt });
  for (const { does, rows: name, start, frame, answer, cached } of acts) {
    const values = new Float32Array(unhex(rows[name]).buffer);
    assert.equal(hex(sent(device, does, start, values, dtype)), frame);
    assert.notEqual(device.receive(unhex(answer)).type, 'ignored');
    assert.equal(device.cached, cached);
  }
});

/**
 * What `device` sends when it `does` so.
 * @param {ClientProtocol} device @param {string} does @param {number} start @param {Float32Array} rows
 * @param {any} dtype
 */
function sent(device, does, start, rows, dtype) {
  const width = VECTORS.resumption.hidden_size;
  if (does === 'step') return device.step(start, rows.subarray(start * width));
  const chain = device.newChain();
  chain.replace(0, chain.following(0, Tensor.fromF32(rows, width, dtype)));
  return does === 'open' ? device.open(chain) : device.restore(start, chain);
}

for (const dtype of /** @type {const} */ (['bf16', 'f16'])) {
  test(`${dtype} rounds as the vectors say`, () => {
    for (const { f32, stored } of VECTORS.rounding[dtype]) {
      const bytes = narrow(dtype, fromBits([f32]));
      assert.equal(hex(bytes.slice().reverse()), stored, f32);
      assert.deepEqual(roundTo(dtype, fromBits([f32])), widen(dtype, bytes));
    }
  });
}

for (const vector of VECTORS.rounding.i8) {
  test(`i8 rounds as the vectors say: ${vector.name}`, () => {
    const tensor = Tensor.fromF32(fromBits(vector.f32), vector.f32.length, 'i8');
    assert.deepEqual(Array.from(new Int8Array(tensor.data.buffer)), vector.stored);
    assert.deepEqual(toBits(tensor.rowScales()), [vector.scale]);
    assert.deepEqual(toBits(tensor.toF32()), vector.values);
  });
}

for (const [dtype, refused] of Object.entries(VECTORS.rounding.refused)) {
  test(`${dtype} refuses what it cannot hold`, () => {
    for (const bits of refused) {
      const encode = () => Tensor.fromF32(fromBits([bits]), 1, /** @type {any} */ (dtype));
      assert.throws(encode, { code: 'non_finite' }, bits);
    }
  });
}

for (const vector of VECTORS.refused_tensors) {
  test(`a reader refuses ${vector.name} in ${vector.dtype}`, () => {
    const tensor = new Tensor(vector.dtype, 1, 1, unhex(vector.data), unhex(vector.scales));
    assert.throws(() => tensor.requireFinite(), { code: vector.error });
  });
}

for (const vector of VECTORS.chains) {
  test(`the chain is the one of the vectors: ${vector.name}`, () => {
    const chain = new PrefixChain(vector.manifest);
    for (const { dtype, shape, data, scales } of vector.appended) {
      const rows = new Tensor(dtype, shape[0], shape[1], unhex(data), unhex(scales));
      chain.replace(chain.length, chain.following(chain.length, rows));
    }
    const digests = vector.digests.map((/** @type {string} */ _, /** @type {number} */ i) => hex(chain.at(i)));
    assert.deepEqual(digests, vector.digests);
  });
}
