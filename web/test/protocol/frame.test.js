import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodeFrame, encodeFrame, isFrame } from '../../src/protocol/frame.js';
import { frameLimit } from '../../src/protocol/limits.js';
import { Tensor } from '../../src/protocol/tensor.js';
import { frameOf, packed } from './frames.js';

const LIMIT = 1 << 20;

test('a frame is read as it was written, and its tensors are views', () => {
  const tensors = {
    a: Tensor.fromF32(Float32Array.of(1, 2, 3), 3, 'bf16'),
    b: Tensor.fromF32(Float32Array.of(1, 2, 3, 4), 2, 'i8'),
    attention_positions: new Tensor('i32', 1, 1, Uint8Array.of(7, 0, 0, 0)),
  };
  const bytes = encodeFrame({ type: 'x' }, tensors);
  const frame = decodeFrame(bytes, LIMIT);
  assert.deepEqual(frame.header, new Map([['type', 'x']]));
  assert.deepEqual([...frame.tensors.keys()], Object.keys(tensors));
  for (const [name, tensor] of Object.entries(tensors)) {
    const read = /** @type {Tensor} */ (frame.tensors.get(name));
    assert.deepEqual(read.toF32(), tensor.toF32());
    assert.equal(read.data.buffer, bytes.buffer);
  }
});

test('a tensor without rows takes no bytes', () => {
  const bytes = encodeFrame({}, { a: new Tensor('f32', 0, 3, new Uint8Array(0)) });
  assert.equal(decodeFrame(bytes, LIMIT).tensors.get('a')?.rows, 0);
});

test('a header of 65,536 bytes is written and read, one byte more is neither', () => {
  const header = (/** @type {number} */ size) => ({ a: 'x'.repeat(size) });
  // A map, its key, and the length of the text take six bytes.
  const most = 65_536 - 6;
  assert.equal(decodeFrame(encodeFrame(header(most)), LIMIT).header.size, 1);
  assert.throws(() => encodeFrame(header(most + 1)), { code: 'frame_too_large' });
  const long = frameOf([0x81, ...packed('a'), 0xdb, 0, 1, 0, 0, ...Array(65_536).fill(0x61)]);
  assert.throws(() => decodeFrame(long, LIMIT), { code: 'malformed_frame' });
});

test('a shape beyond what a frame can hold asks for no memory', () => {
  const huge = [0xce, 0x10, 0, 0, 0];
  const described = [0x91, 0x93, ...packed('a'), ...packed('f32'), 0x92, ...huge, ...huge];
  const frame = frameOf([0x81, ...packed('tensors'), ...described]);
  assert.throws(() => decodeFrame(frame, LIMIT), { code: 'malformed_frame' });
});

test('more than 64 tensors are refused', () => {
  const tensors = Array.from({ length: 65 }, (_, i) => [`t${i}`, new Tensor('i8', 0, 1, new Uint8Array(0))]);
  const bytes = encodeFrame({}, Object.fromEntries(tensors));
  assert.throws(() => decodeFrame(bytes, LIMIT), { code: 'malformed_message' });
});

test('tensors that are nil are no list', () => {
  const frame = frameOf([0x81, ...packed('tensors'), 0xc0]);
  assert.throws(() => decodeFrame(frame, LIMIT), { code: 'malformed_message' });
});

test('what begins like a frame is told by four bytes', () => {
  assert.equal(isFrame(encodeFrame({})), true);
  assert.equal(isFrame(new TextEncoder().encode('SPL')), false);
  assert.equal(isFrame(new TextEncoder().encode('{"error"')), false);
});

test('the limit of a frame is that of the protocol', () => {
  assert.equal(frameLimit(896, 512), 65_552 + 512 * 896 * 4);
});
