import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ClientProtocol } from '../../src/protocol/client.js';
import { encodeMessage } from '../../src/protocol/messages.js';
import { encodeServerMessage } from '../../src/protocol/server_messages.js';
import { decodeClientMessage } from '../../src/protocol/parsing.js';
import { Tensor } from '../../src/protocol/tensor.js';

const WIDTH = 3;
const MANIFEST = 'm';
const ROW = Float32Array.of(1, 2, 3);

/** @param {any} [fields] */
const opened = (fields) =>
  encodeServerMessage({
    type: 'opened', session: 's', manifest: MANIFEST, dtype: 'f32', maxRows: 2, maxContext: 4, version: 1,
    capabilities: [], layers: 0, heads: 0, interactiveRows: 16, ...fields,
  });

/** @param {any} [fields] */
const result = (fields) =>
  encodeServerMessage({
    type: 'result', session: 's', step: 1, cached: 1, hidden: Tensor.fromF32(ROW, WIDTH, 'f32'), computeUs: 5,
    queueUs: 6, prefix: new Uint8Array(0), attention: null, ...fields,
  });

/** @param {any} [fields] */
const failure = (fields) =>
  encodeServerMessage({
    type: 'error', code: 'cache_full', message: '', retryable: true, retryAfter: null, session: null, step: null,
    ...fields,
  });

/** @param {any} [fields] */
function session(fields) {
  const device = new ClientProtocol(WIDTH, MANIFEST);
  device.open();
  assert.equal(device.receive(opened(fields)).type, 'opened');
  return device;
}

/** @param {Uint8Array} frame @returns {any} */
const read = (frame) => decodeClientMessage(frame, 1 << 20);

test('a session opens once; an opening that nobody asked for is ignored', () => {
  const device = new ClientProtocol(WIDTH, MANIFEST, 'f32');
  assert.equal(device.receive(opened()).type, 'ignored');
  assert.equal(read(device.open()).dtype, 'f32');
  assert.equal(device.receive(opened()).type, 'opened');
  assert.equal(device.receive(opened({ session: 'other' })).type, 'ignored');
  assert.equal(device.opened?.session, 's');
});

for (const [fields, code] of /** @type {[any, string][]} */ ([
  [{ manifest: 'n' }, 'model_changed'],
  [{ maxRows: 0 }, 'malformed_message'],
  [{ maxContext: 0 }, 'malformed_message'],
  [{ dtype: 'bf16' }, 'malformed_message'],
])) {
  test(`an opening with ${JSON.stringify(fields)} is ${code}`, () => {
    const device = new ClientProtocol(WIDTH, MANIFEST, 'f32');
    device.open();
    assert.throws(() => device.receive(opened(fields)), { code });
    assert.equal(device.opened, null);
  });
}

test('steps count up with results alone, and name the digest of what they keep', () => {
  const device = session();
  const first = read(device.step(0, ROW));
  device.receive(failure({ session: 's', step: 1 }));
  const again = read(device.step(0, ROW));
  assert.deepEqual([first.step, again.step], [1, 1]);
  device.receive(result({ prefix: device.digests()[0] }));
  const [digest] = [device.digests()];
  assert.deepEqual(digest, []);
  const second = read(device.step(1, ROW));
  assert.deepEqual([second.step, second.start, device.cached], [2, 1, 1]);
  assert.notDeepEqual(second.prefix, first.prefix);
});

test('the digests of a step are the same before and after its answer was on the way', () => {
  const early = session();
  const late = session();
  early.step(0, ROW);
  early.digests();
  late.step(0, ROW);
  early.receive(result());
  late.receive(result());
  assert.deepEqual(read(early.step(1, ROW)).prefix, read(late.step(1, ROW)).prefix);
});

test('all rows come back when they are asked for', () => {
  const device = session();
  device.step(0, Float32Array.of(...ROW, ...ROW), { rows: 'all' });
  const hidden = Tensor.fromF32(Float32Array.of(...ROW, ...ROW), WIDTH, 'f32');
  const event = device.receive(result({ hidden, cached: 2 }));
  assert.equal(event.type === 'completed' && event.hidden.length, 6);
});

test('so many of the last rows come back as are asked for, where the server announced it', () => {
  const device = session({ capabilities: ['rows'], maxRows: 3 });
  const rows = new Float32Array(3 * WIDTH);
  assert.equal(read(device.step(0, rows, { rows: 2 })).rows, 2);
  const hidden = Tensor.fromF32(Float32Array.of(...ROW, ...ROW), WIDTH, 'f32');
  const event = device.receive(result({ hidden, cached: 3 }));
  assert.equal(event.type === 'completed' && event.hidden.length, 6);
});

for (const rows of [1, 3]) {
  test(`an answer of ${rows} rows where two were asked for is not used`, () => {
    const device = session({ capabilities: ['rows'], maxRows: 3 });
    device.step(0, new Float32Array(3 * WIDTH), { rows: 2 });
    const hidden = Tensor.fromF32(new Float32Array(rows * WIDTH), WIDTH, 'f32');
    assert.throws(() => device.receive(result({ hidden, cached: 3 })), { code: 'wrong_shape' });
  });
}

test('a number of rows that the step has not, or the server cannot return, is not asked for', () => {
  const rows = new Float32Array(2 * WIDTH);
  for (const count of [0, -1, 3, 1.5, NaN]) {
    const device = session({ capabilities: ['rows'] });
    assert.throws(() => device.step(0, rows, { rows: count }), { code: 'protocol_state' }, `${count}`);
    assert.equal(device.outstanding, null);
  }
  assert.throws(() => session().step(0, rows, { rows: 2 }), { code: 'unsupported' });
});

test('a step with a number of rows that it has not is malformed', () => {
  for (const rows of [0, -1, 2, 1.5, true, '1', []]) {
    const frame = encodeMessage({
      type: 'step', session: 's', step: 1, start: 0, prefix: new Uint8Array(16), embeddings: Tensor.fromF32(ROW, WIDTH, 'f32'),
      rows: /** @type {any} */ (rows), adapter: null, attention: null,
    });
    assert.throws(() => read(frame), { code: 'malformed_message' }, `${rows}`);
  }
});

test('a server that takes no row for interactive is not believed', () => {
  const device = new ClientProtocol(WIDTH, MANIFEST);
  device.open();
  assert.throws(() => device.receive(opened({ interactiveRows: 0 })), { code: 'malformed_message' });
});

test('an answer to something else leaves the step outstanding', () => {
  const device = session();
  const frame = device.step(0, ROW);
  for (const other of [
    result({ session: 'other' }), result({ step: 2 }), result({ prefix: new Uint8Array(16) }),
    failure({ session: 'other' }), failure({ session: 's', step: 9 }), opened(),
    encodeServerMessage({ type: 'pong' }), encodeServerMessage({ type: 'closed', session: 's' }),
  ]) {
    assert.equal(device.receive(other).type, 'ignored');
    assert.equal(device.outstanding, frame);
  }
  assert.equal(device.receive(result()).type, 'completed');
  assert.equal(device.receive(result()).type, 'ignored');
});

test('a failure ends the step that it names, or that the server could not read', () => {
  for (const about of [{ session: 's', step: 1 }, { session: 's' }, { step: 1 }, {}]) {
    const device = session();
    device.step(0, ROW);
    assert.equal(device.receive(failure(about)).type, 'failed');
    assert.deepEqual([device.outstanding, device.stepping], [null, 0]);
  }
});

test('a late failure of a step does not end an opening, one without a step does', () => {
  const device = new ClientProtocol(WIDTH, MANIFEST);
  assert.equal(device.receive(failure()).type, 'ignored');
  device.open();
  assert.equal(device.receive(failure({ session: 's', step: 1 })).type, 'ignored');
  assert.equal(device.receive(failure()).type, 'failed');
});

test('an untrue result changes nothing', () => {
  for (const [fields, code] of /** @type {[any, string][]} */ ([
    [{ cached: 2 }, 'malformed_message'],
    [{ hidden: Tensor.fromF32(ROW, 1, 'f32') }, 'wrong_hidden_size'],
    [{ hidden: Tensor.fromF32(Float32Array.of(...ROW, ...ROW), WIDTH, 'f32') }, 'wrong_shape'],
    [{ hidden: new Tensor('f16', 1, WIDTH, Uint8Array.of(0, 0x7c, 0, 0, 0, 0)) }, 'non_finite'],
    [{ hidden: new Tensor('i8', 1, WIDTH, new Uint8Array(3), new Uint8Array(4)) }, 'malformed_message'],
  ])) {
    const device = session();
    const frame = device.step(0, ROW);
    assert.throws(() => device.receive(result(fields)), { code });
    assert.deepEqual([device.cached, device.outstanding], [0, frame]);
  }
});

test('hidden states may travel in another dtype than the rows', () => {
  for (const dtype of /** @type {const} */ (['f32', 'f16', 'bf16', 'i8'])) {
    const device = session();
    device.step(0, ROW);
    const event = device.receive(result({ hidden: Tensor.fromF32(ROW, WIDTH, dtype) }));
    assert.ok(event.type === 'completed');
    event.hidden.forEach((value, i) => assert.ok(Math.abs(value - ROW[i]) < 0.02));
  }
});

test('a step that the server would refuse is not sent', () => {
  const device = session();
  const rows = (/** @type {number} */ count) => new Float32Array(count * WIDTH);
  assert.throws(() => device.step(0, rows(0)), { code: 'wrong_shape' });
  assert.throws(() => device.step(0, new Float32Array(4)), { code: 'wrong_shape' });
  assert.throws(() => device.step(0, rows(3)), { code: 'too_many_rows' });
  assert.throws(() => device.step(0, rows(1).fill(NaN)), { code: 'non_finite' });
  assert.throws(() => device.step(1, rows(1)), { code: 'protocol_state' });
  assert.throws(() => device.step(-1, rows(1)), { code: 'protocol_state' });
  assert.equal(device.outstanding, null);
  const small = session({ maxContext: 1 });
  assert.throws(() => small.step(0, rows(2)), { code: 'context_overflow' });
});

test('a step needs an open session in which few steps are under way', () => {
  assert.throws(() => new ClientProtocol(WIDTH, MANIFEST).step(0, ROW), { code: 'protocol_state' });
  const device = session({ maxContext: 9, capabilities: ['restore'] });
  for (let start = 0; start < 4; start++) device.step(start, ROW);
  assert.throws(() => device.step(4, ROW), { code: 'protocol_state' });
  assert.throws(() => device.restore(0, device.newChain()), { code: 'protocol_state' });
});

test('closing names the session and forgets it', () => {
  const device = session();
  device.step(0, ROW);
  device.receive(result());
  assert.deepEqual(read(/** @type {Uint8Array} */ (device.close())), { type: 'close', session: 's', keep: true });
  assert.deepEqual([device.close(), device.cached, device.opened], [null, 0, null]);
});

test('an answer larger than the session allows is refused', () => {
  const device = session();
  device.step(0, ROW);
  const long = encodeServerMessage({ type: 'closed', session: 'x'.repeat(60_000) });
  const large = Uint8Array.of(...long, ...new Uint8Array(10_000));
  assert.throws(() => device.receive(large), { code: 'frame_too_large' });
});

const TELLING = { capabilities: ['attention'], layers: 2, heads: 3 };

/** @param {number[]} weights @param {any} [fields] */
const weighted = (weights, fields) => ({
  layers: 2, heads: 1, values: Tensor.fromF32(Float32Array.from(weights), weights.length / 2, 'f16'), positions: null,
  ...fields,
});

test('a step that asks for attention brings its rows, layer by layer', () => {
  const device = session(TELLING);
  const step = read(device.step(0, Float32Array.of(...ROW, ...ROW), { attention: 'row' }));
  assert.deepEqual(step.attention, { heads: 'mean', topK: 0, dtype: 'f16', layers: [], reduce: 'none' });
  const event = device.receive(result({ cached: 2, attention: weighted([0.25, 0.75, 1, 0]) }));
  assert.ok(event.type === 'completed');
  assert.deepEqual(event.attention, {
    layers: 2, heads: 1, cached: 2, width: 2, weights: Float32Array.of(0.25, 0.75, 1, 0), positions: null,
  });
});

test('attention that nobody asked for is ignored', () => {
  const device = session(TELLING);
  device.step(0, ROW);
  const event = device.receive(result({ attention: weighted([1, 1]) }));
  assert.ok(event.type === 'completed');
  assert.equal(event.attention, null);
});

test('untrue attention is told as what it is, and the states that it came with are used', () => {
  const wide = Tensor.fromF32(Float32Array.of(1, 1, 1, 1), 2, 'f16');
  const whole = Tensor.fromF32(Float32Array.of(1, 1), 1, 'f32');
  const places = new Tensor('i32', 2, 1, new Uint8Array(8));
  for (const attention of [
    null, weighted([1, 1], { layers: 1 }), weighted([1, 1], { heads: 2 }), weighted([1, 1], { values: wide }),
    weighted([1, 1], { values: whole }), weighted([1, 1], { positions: places }), weighted([1, -0.1]),
    weighted([1, 1.1]), weighted([1, 1], { values: new Tensor('f16', 2, 1, Uint8Array.of(0, 60, 0, 126)) }),
  ]) {
    const device = session(TELLING);
    device.step(0, ROW, { attention: 'row' });
    const event = device.receive(result({ attention }));
    assert.ok(event.type === 'completed');
    assert.equal(/** @type {any} */ (event.attention).code, 'attention_invalid');
    assert.deepEqual([event.hidden.length, device.cached, device.outstanding], [WIDTH, 1, null]);
  }
});

const REDUCING = { ...TELLING, capabilities: ['attention', 'attention_layers'], maxRows: 200, maxContext: 200 };

/** @param {number[]} weights @param {number[]} positions */
const sparse = (weights, positions) => ({
  layers: 1, heads: 1, values: Tensor.fromF32(Float32Array.from(weights), weights.length, 'f16'),
  positions: new Tensor('i32', 1, positions.length, new Uint8Array(Int32Array.from(positions).buffer)),
});

test('a server that can is asked for the largest weights of one row over all heads of all layers', () => {
  const device = session(REDUCING);
  const step = read(device.step(0, Float32Array.of(...ROW, ...ROW), { attention: 'row' }));
  assert.deepEqual(step.attention, { heads: 'all', topK: 76, dtype: 'f16', layers: [], reduce: 'mean' });
  const event = device.receive(result({ cached: 2, attention: sparse([0.75, 0.25], [1, 0]) }));
  assert.ok(event.type === 'completed' && event.attention && !(event.attention instanceof Error));
  const { width, weights, positions } = event.attention;
  assert.deepEqual([width, [...weights], [...(positions ?? [])]], [2, [0.75, 0.25], [1, 0]]);
});

test('positions that are not there, or named twice, are untrue', () => {
  for (const positions of [[0, 0], [0, 2], [-1, 0]]) {
    const device = session(REDUCING);
    device.step(0, Float32Array.of(...ROW, ...ROW), { attention: 'row' });
    const event = device.receive(result({ cached: 2, attention: sparse([0.75, 0.25], positions) }));
    assert.ok(event.type === 'completed');
    assert.equal(/** @type {any} */ (event.attention).code, 'attention_invalid');
  }
});

test('one row of 4,096 positions makes an answer longer by at most 600 bytes', () => {
  const without = result({ cached: 4096 });
  const attention = sparse(Array(80).fill(0.0125), Array.from({ length: 80 }, (_, i) => 4095 - i));
  const longer = result({ cached: 4096, attention });
  assert.ok(longer.length - without.length <= 600, `${longer.length - without.length} bytes`);
});

test('every head of every layer can be asked for', () => {
  const device = session(TELLING);
  const step = read(device.step(0, ROW, { attention: 'heads' }));
  assert.deepEqual(step.attention, { heads: 'all', topK: 0, dtype: 'f16', layers: [], reduce: 'none' });
  const values = Tensor.fromF32(new Float32Array(6).fill(1), 1, 'f16');
  const event = device.receive(result({ attention: { layers: 2, heads: 3, values, positions: null } }));
  assert.ok(event.type === 'completed' && event.attention && !(event.attention instanceof Error));
  assert.deepEqual([event.attention.layers, event.attention.heads, event.attention.weights.length], [2, 3, 6]);
});

test('attention that is not offered or too large is not asked for', () => {
  for (const fields of [{}, { ...TELLING, capabilities: [] }, { ...TELLING, layers: 0 }, { ...TELLING, heads: 0 }]) {
    assert.throws(() => session(fields).step(0, ROW, { attention: 'row' }), { code: 'unsupported' });
  }
  const many = session({ ...TELLING, layers: 1024 });
  assert.throws(() => many.attentionRoom(40_000, 'row'), { code: 'attention_too_large' });
  assert.ok(many.attentionRoom(10_000, 'row') > 2 * 1024 * 10_000);
  assert.throws(() => new ClientProtocol(WIDTH, MANIFEST).attentionRoom(1, 'row'), { code: 'protocol_state' });
});

test('an answer may be as long as its attention makes it', () => {
  const device = session({ ...TELLING, layers: 1024, maxRows: 64, maxContext: 64 });
  const values = Tensor.fromF32(new Float32Array(1024 * 64), 64, 'f16');
  const answer = result({ cached: 64, attention: { layers: 1024, heads: 1, values, positions: null } });
  device.step(0, new Float32Array(64 * WIDTH), { attention: 'row' });
  assert.equal(device.receive(answer).type, 'completed');
  device.step(64 - 1, ROW);
  assert.throws(() => device.receive(answer), { code: 'frame_too_large' });
});
