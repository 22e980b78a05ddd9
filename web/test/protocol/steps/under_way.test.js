import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ClientProtocol } from '../../../src/protocol/client.js';
import { decodeClientMessage } from '../../../src/protocol/parsing.js';
import { encodeServerMessage } from '../../../src/protocol/server_messages.js';
import { Tensor } from '../../../src/protocol/tensor.js';

const WIDTH = 2;
const MANIFEST = 'm';

/** Rows of these values. @param {number[]} values */
const rowsOf = (...values) => Float32Array.from(values.flatMap((value) => [value, value]));

/** @param {Uint8Array} frame @returns {any} */
const read = (frame) => decodeClientMessage(frame, 1 << 20);

function session() {
  const device = new ClientProtocol(WIDTH, MANIFEST);
  device.open();
  device.receive(encodeServerMessage({
    type: 'opened', session: 's', manifest: MANIFEST, dtype: 'f32', maxRows: 4, maxContext: 40, version: 1,
    capabilities: [], layers: 0, heads: 0, cached: 0, prefix: new Uint8Array(0), interactiveRows: 16, tiers: {}, replica: null,
    streamed: 0,
  }));
  return device;
}

/** @param {number} step @param {number} cached @param {any} [fields] */
const result = (step, cached, fields) =>
  encodeServerMessage({
    type: 'result', session: 's', step, cached, hidden: Tensor.fromF32(rowsOf(7), WIDTH, 'f32'), computeUs: 5,
    queueUs: 6, prefix: new Uint8Array(0), attention: null, reused: 0, ...fields,
  });

/** @param {number} step @param {any} [fields] */
const failure = (step, fields) =>
  encodeServerMessage({
    type: 'error', code: 'step_conflict', message: '', retryable: false, retryAfter: null, session: 's', step, ...fields,
  });

test('a step behind others has the number and the digest that it will have', () => {
  const [ahead, waiting] = [session(), session()];
  const frames = [[0, 1, 2], [2, 3], [1, 4], [2, 5, 6]].map(([start, ...rows]) => ahead.step(start, rowsOf(...rows)));
  const others = [[0, 1, 2], [2, 3], [1, 4], [2, 5, 6]].map(([start, ...rows], i) => {
    const frame = waiting.step(start, rowsOf(...rows));
    waiting.receive(result(i + 1, start + rows.length));
    return frame;
  });
  assert.deepEqual(frames, others);
  assert.deepEqual(ahead.unanswered, frames);
  assert.deepEqual([ahead.cached, waiting.cached], [0, 4]);
});

test('answers in order settle one step after the other', () => {
  const device = session();
  const frames = [0, 1, 2].map((start) => device.step(start, rowsOf(start)));
  for (let step = 1; step <= 3; step++) {
    assert.equal(device.outstanding, frames[step - 1]);
    const event = device.receive(result(step, step));
    assert.deepEqual([event.type, device.cached, device.stepping], ['completed', step, 3 - step]);
  }
  assert.deepEqual([device.outstanding, device.unanswered], [null, []]);
});

test('an answer before its turn is untrue', () => {
  const device = session();
  device.step(0, rowsOf(1));
  device.step(1, rowsOf(2));
  assert.throws(() => device.receive(result(2, 2)), { code: 'malformed_message' });
  assert.deepEqual([device.cached, device.stepping], [0, 2]);
});

test('a conflict of a step with one behind it is decided by that one', () => {
  const device = session();
  const frames = [0, 1, 2].map((start) => device.step(start, rowsOf(start)));
  assert.equal(device.receive(failure(1)).type, 'deferred');
  assert.equal(device.receive(failure(2)).type, 'deferred');
  assert.deepEqual([device.outstanding, device.unanswered, device.stepping], [frames[2], [frames[2]], 3]);
  const event = device.receive(result(3, 3, { prefix: device.digests()[0] }));
  assert.deepEqual([event.type === 'completed' && event.steps, device.cached, device.stepping], [3, 3, 0]);
  assert.equal(read(device.step(3, rowsOf(9))).step, 4);
});

test('the digest of what is behind a conflict has to be the right one', () => {
  const device = session();
  device.step(0, rowsOf(1));
  device.step(1, rowsOf(2));
  device.receive(failure(1));
  assert.equal(device.receive(result(2, 2, { prefix: new Uint8Array(16) })).type, 'ignored');
  assert.throws(() => device.receive(result(2, 3, { prefix: device.digests()[0] })), { code: 'malformed_message' });
  assert.equal(device.cached, 0);
  const event = device.receive(result(2, 2));
  assert.equal(event.type === 'failed' && event.failure.code, 'step_conflict');
});

test('a conflict of which nothing behind it says otherwise is what the server said', () => {
  for (const second of [failure(2), failure(2, { code: 'cache_full', retryable: true })]) {
    const device = session();
    device.step(0, rowsOf(1));
    device.step(1, rowsOf(2));
    device.receive(failure(1));
    const event = device.receive(second);
    assert.equal(event.type === 'failed' && event.failure.code, 'step_conflict');
    assert.equal(device.stepping, 0);
  }
});

test('a refusal ends all steps that are under way, and their numbers are used again', () => {
  const device = session();
  device.step(0, rowsOf(1));
  device.receive(result(1, 1));
  device.step(1, rowsOf(2));
  device.step(2, rowsOf(3));
  assert.equal(device.receive(failure(2, { code: 'cache_full', retryable: true })).type, 'failed');
  assert.deepEqual([device.stepping, device.cached], [0, 1]);
  assert.equal(device.receive(failure(3)).type, 'ignored');
  assert.equal(read(device.step(1, rowsOf(2))).step, 2);
});

test('a failure of a step behind others is not that of the first', () => {
  const device = session();
  device.step(0, rowsOf(1));
  device.step(1, rowsOf(2));
  assert.equal(device.receive(failure(2, { code: 'cache_full' })).type, 'ignored');
  assert.equal(device.stepping, 2);
});

test('a step may begin anywhere up to the end of those before it, and not beyond', () => {
  const device = session();
  device.step(0, rowsOf(1, 2, 3));
  assert.throws(() => device.step(4, rowsOf(4)), { code: 'protocol_state' });
  assert.equal(read(device.step(3, rowsOf(4))).start, 3);
  device.forget();
  assert.deepEqual([device.stepping, device.unanswered], [0, []]);
});
