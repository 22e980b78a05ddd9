import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openOnGpu } from '../../../src/ends/gpu/open.js';
import { cutToBf16, firstOf, normal, openEnds, productsOf } from '../fixtures.js';
import { FakeGpu, FakeTimers } from './fake_gpu.js';

const ROWS = 3001;
const HIDDEN = 96;
const weights = cutToBf16(normal(ROWS * HIDDEN, 1, 0.02));
const state = normal(HIDDEN, 2);
const expected = firstOf(productsOf(weights, state), 20);

/**
 * Ends over two workers that have `gpu`. A product of WebAssembly takes 10 milliseconds and one of the GPU
 * `cost`.
 * @param {FakeGpu} gpu @param {any} [options]
 */
async function ends(gpu, options = {}) {
  const { cost = 1, kernel = 'auto', session = { gpuLost: false }, ...rest } = options;
  const timers = new FakeTimers();
  gpu.onDispatch = () => timers.pass(cost);
  const derived = new Map();
  /** @type {typeof openOnGpu} */
  const open = (device, plane, place, given) => {
    const estimate = (/** @type {Float32Array} */ hidden) => {
      plane.estimate(hidden);
      timers.pass(10);
    };
    const timed = /** @type {any} */ ({ estimate, estimates: plane.estimates });
    return openOnGpu(device, timed, place, { ...given, now: () => timers.now, timers });
  };
  const means = { gpu: gpu.asGpu, loadGpu: async () => ({ openOnGpu: open }) };
  const own = await openEnds(weights, ROWS, { derived, compactFrom: 1, kernel, session, means, ...rest });
  const top = async () => [...(await own.head.top(state, 20)).ids];
  return { own, top, timers, derived, session };
}

/**
 * Numbers of pages of all memories that are made meanwhile.
 * @param {import('node:test').TestContext} context
 */
function memories(context) {
  /** @type {number[]} */
  const pages = [];
  const { Memory } = WebAssembly;
  context.mock.method(WebAssembly, 'Memory', function counted(/** @type {any} */ descriptor) {
    pages.push(descriptor.initial);
    return new Memory(descriptor);
  });
  return pages;
}

const wasm = /^(relaxed|simd)$/;

test('a GPU that is faster gives the estimates, and the plane leaves the memory', async (context) => {
  const pages = memories(context);
  const gpu = new FakeGpu();
  const { own, top } = await ends(gpu, { cuts: 1 });
  assert.equal(own.kernel, 'webgpu');
  const before = gpu.dispatches;
  assert.deepEqual(await top(), expected);
  assert.equal(gpu.dispatches, before + 1);
  const plane = Math.ceil(ROWS / 8) * Math.ceil(HIDDEN / 64) * 272;
  assert.equal(pages.length, 2);
  assert.ok((pages[0] - pages[1]) * 65536 >= plane - 65536, `${pages}`);
  assert.deepEqual([...(await own.rows(Int32Array.of(7)))], [...weights.slice(7 * HIDDEN, 8 * HIDDEN)]);
  await own.close();
  assert.ok(gpu.devices[0].destroyed);
});

test('one that is slower does not, unless somebody insists', async () => {
  const gpu = new FakeGpu();
  const slow = await ends(gpu, { cost: 9 });
  assert.match(slow.own.kernel, wasm);
  assert.ok(gpu.devices.every((device) => device.destroyed));
  assert.deepEqual(await slow.top(), expected);
  await slow.own.close();
  const forced = await ends(gpu, { cost: 9, kernel: 'webgpu' });
  assert.equal(forced.own.kernel, 'webgpu');
  assert.deepEqual(await forced.top(), expected);
  await forced.own.close();
});

test('the GPU is timed with the work of all workers, which share it', async () => {
  const gpu = new FakeGpu();
  const alone = await ends(gpu, { cost: 5, cuts: 1 });
  assert.equal(alone.own.kernel, 'webgpu');
  await alone.own.close();
  const shared = await ends(gpu, { cost: 5, cuts: 2 });
  assert.match(shared.own.kernel, wasm);
  await shared.own.close();
});

test('one whose products are wrong is not used, and named to who insists', async () => {
  const gpu = new FakeGpu();
  gpu.fault = 'wrong';
  const { own, top } = await ends(gpu);
  assert.match(own.kernel, wasm);
  assert.deepEqual(await top(), expected);
  await own.close();
  await assert.rejects(ends(gpu, { kernel: 'webgpu' }), { code: 'kernel_unavailable', message: /wrong/ });
});

test('who asks for a kernel of WebAssembly, or has no plane, never touches the GPU', async () => {
  const gpu = new FakeGpu();
  for (const options of [{ kernel: 'simd' }, { compactFrom: ROWS * HIDDEN + 1 }]) {
    const { own, top } = await ends(gpu, options);
    assert.match(own.kernel, wasm);
    assert.deepEqual(await top(), expected);
    await own.close();
  }
  assert.equal(gpu.adapters, 0);
});

test('a browser without WebGPU does as before, and says so to who insists', async () => {
  const without = { gpu: undefined, loadGpu: () => assert.fail('its code was fetched') };
  const own = await openEnds(weights, ROWS, { compactFrom: 1, means: without });
  assert.match(own.kernel, wasm);
  await own.close();
  await assert.rejects(openEnds(weights, ROWS, { compactFrom: 1, kernel: 'webgpu', means: without }), {
    code: 'kernel_unavailable',
    message: /no WebGPU/,
  });
});

test('code that cannot be fetched, as offline, is no error', async () => {
  const missing = { gpu: new FakeGpu().asGpu, loadGpu: () => Promise.reject(new TypeError('offline')) };
  const own = await openEnds(weights, ROWS, { compactFrom: 1, means: missing });
  assert.match(own.kernel, wasm);
  await own.close();
});

/** @type {Record<string, (gpu: FakeGpu, timers: FakeTimers) => void>} */
const losses = {
  'a mapping that is rejected': (gpu) => (gpu.fault = 'rejects'),
  'an error in a scope': (gpu) => (gpu.fault = 'errs'),
  'a device that is taken away while nothing is asked': (gpu) => {
    gpu.devices.forEach((device) => device.destroy());
  },
  'a device that is taken away in the midst of a product': (gpu) => {
    gpu.onDispatch = () => gpu.devices.forEach((device) => device.destroy());
  },
  'an answer that never comes': (gpu, timers) => {
    gpu.fault = 'hangs';
    gpu.onDispatch = () => void setImmediate(() => timers.pass(4000));
  },
};
for (const [name, lose] of Object.entries(losses)) {
  test(`${name}: the request is answered by the plane from its file`, async () => {
    const gpu = new FakeGpu();
    const { own, top, timers, derived, session } = await ends(gpu);
    assert.deepEqual(await top(), expected);
    assert.equal(own.kernel, 'webgpu');
    const files = [...derived.values()];
    lose(gpu, timers);
    assert.deepEqual(await top(), expected);
    assert.match(own.kernel, wasm);
    assert.deepEqual([...derived.values()], files, 'no plane was derived again');
    assert.ok(gpu.devices.every((device) => device.destroyed));
    const { dispatches } = gpu;
    assert.deepEqual(await top(), expected);
    assert.deepEqual([gpu.dispatches, gpu.adapters, session.gpuLost], [dispatches, 2, true]);
    await own.close();
  });
}

test('without memory for the plane after a loss every row is read, until there is some', async (context) => {
  const gpu = new FakeGpu();
  const { own, top } = await ends(gpu);
  gpu.fault = 'rejects';
  const short = context.mock.method(WebAssembly, 'Memory', () => {
    throw new RangeError('could not allocate memory');
  });
  assert.deepEqual(await top(), expected);
  assert.equal(await own.head.topAndRest(state, 20, 1), null);
  assert.match(own.kernel, wasm);
  assert.equal((await own.rows(Int32Array.of(7)))[0], weights[7 * HIDDEN]);
  short.mock.restore();
  assert.deepEqual(await top(), expected);
  assert.notEqual(await own.head.topAndRest(state, 20, 1), null);
  await own.close();
});

test('a plane that no store keeps is derived again when the GPU is lost', async () => {
  const gpu = new FakeGpu();
  const { own, top, derived } = await ends(gpu);
  derived.clear();
  gpu.fault = 'rejects';
  assert.deepEqual(await top(), expected);
  assert.equal(derived.size, 2);
  await own.close();
});

test('a GPU that was lost is not tried again by ends that are opened later', async () => {
  const gpu = new FakeGpu();
  const session = { gpuLost: true };
  const { own } = await ends(gpu, { session });
  assert.match(own.kernel, wasm);
  assert.equal(gpu.adapters, 0);
  await own.close();
});

test('nor is one that fails while it is tried; one that is slow may be tried again', async () => {
  const gpu = new FakeGpu();
  const slow = await ends(gpu, { cost: 9 });
  assert.equal(slow.session.gpuLost, false);
  await slow.own.close();
  gpu.fault = 'rejects';
  const { own, top, session } = await ends(gpu);
  assert.match(own.kernel, wasm);
  assert.equal(session.gpuLost, true);
  assert.deepEqual(await top(), expected);
  await own.close();
});

test('where one shard of two stays in WebAssembly both kernels are named', async () => {
  const gpu = new FakeGpu();
  const { own, top } = await ends(gpu);
  gpu.devices[0].destroy();
  assert.deepEqual(await top(), expected);
  assert.match(own.kernel, /^(webgpu, (relaxed|simd)|(relaxed|simd), webgpu)$/);
  assert.deepEqual(await top(), expected);
  await own.close();
});

test('a plane is cut where a binding is smaller, and refused where there would be too many', async () => {
  const group = Math.ceil(HIDDEN / 64) * 32 * 64;
  const small = new FakeGpu({ limits: { maxStorageBufferBindingSize: 9 * group } });
  const cut = await ends(small, { cuts: 1 });
  const before = small.dispatches;
  assert.deepEqual(await cut.top(), expected);
  assert.equal(small.dispatches, before + Math.ceil(ROWS / 64 / 9));
  await cut.own.close();
  const most = { maxStorageBufferBindingSize: group, maxBufferSize: 100, maxUniformBufferBindingSize: 100 };
  for (const limit of Object.entries(most)) {
    const limits = Object.fromEntries([limit]);
    const { own, top } = await ends(new FakeGpu({ limits }), { cuts: 1 });
    assert.match(own.kernel, wasm);
    assert.deepEqual(await top(), expected);
    await own.close();
  }
});

test('a hidden state whose estimates could overflow is multiplied with every row', async () => {
  const gpu = new FakeGpu();
  const { own, top } = await ends(gpu);
  const huge = state.map((value) => value * 2 ** 120);
  const before = gpu.dispatches;
  const { ids } = await own.head.top(huge, 20);
  assert.deepEqual([...ids], expected);
  assert.equal(gpu.dispatches, before);
  assert.equal(own.kernel, 'webgpu');
  assert.deepEqual(await top(), expected);
  await own.close();
});
