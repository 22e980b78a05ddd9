import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Deadline } from '../../../src/ends/gpu/deadline.js';
import { isSoftware, requestGpuDevice } from '../../../src/ends/gpu/device.js';
import { FakeGpu, FakeTimers } from './fake_gpu.js';

const turns = () => new Promise((resolve) => setImmediate(resolve));

function options(software = false) {
  const timers = new FakeTimers();
  return { timers, software, deadline: new Deadline(15, timers) };
}

async function opened() {
  const gpu = new FakeGpu();
  const { timers, ...rest } = options();
  return { gpu, timers, device: await requestGpuDevice(gpu.asGpu, rest), ...rest };
}

test('software is known by its flag, wherever a browser has it, and by its names', () => {
  const is = (/** @type {any} */ adapter) => isSoftware(adapter);
  assert.ok(is({ info: { isFallbackAdapter: true } }));
  assert.ok(is({ isFallbackAdapter: true }));
  assert.ok(is({ info: { vendor: 'google', architecture: 'swiftshader', device: '', description: '' } }));
  assert.ok(is({ info: { vendor: '', description: 'llvmpipe (LLVM 15.0.6, 256 bits)' } }));
  assert.ok(is({ info: { vendor: 'microsoft', description: 'Microsoft Basic Render Driver' } }));
  assert.ok(!is({ info: { vendor: 'nvidia', architecture: 'ampere', isFallbackAdapter: false } }));
  assert.ok(!is({ info: { vendor: 'arm', architecture: 'valhall', device: '', description: '' } }));
  assert.ok(!is({}));
});

test('software is refused where it is not welcome', async () => {
  const gpu = new FakeGpu({ info: { architecture: 'swiftshader' } });
  await assert.rejects(requestGpuDevice(gpu.asGpu, options()), { code: 'gpu_refused', message: /software/ });
  assert.equal(gpu.devices.length, 0);
  await requestGpuDevice(gpu.asGpu, options(true));
  assert.equal(gpu.devices.length, 1);
});

test('a browser without adapter or device is refused', async () => {
  const none = /** @type {any} */ ({ requestAdapter: async () => null });
  await assert.rejects(requestGpuDevice(none, options()), { code: 'gpu_refused' });
  const requestDevice = async () => {
    throw new Error('limits');
  };
  const useless = /** @type {any} */ ({ requestAdapter: async () => ({ info: {}, requestDevice }) });
  await assert.rejects(requestGpuDevice(useless, options()), { code: 'gpu_refused' });
});

test('an adapter that never comes is lost, and a device that comes too late is destroyed', async () => {
  const silent = /** @type {any} */ ({ requestAdapter: () => new Promise(() => {}) });
  const first = options();
  const waiting = requestGpuDevice(silent, first);
  first.timers.pass(15_000);
  await assert.rejects(waiting, { code: 'gpu_lost' });

  const { timers, ...second } = options();
  const late = { destroyed: false, destroy: () => (late.destroyed = true) };
  let give = (/** @type {any} */ _device) => {};
  const requestDevice = () => new Promise((resolve) => (give = resolve));
  const slow = /** @type {any} */ ({ requestAdapter: async () => ({ info: {}, requestDevice }) });
  const asking = requestGpuDevice(slow, second);
  await turns();
  timers.pass(15_000);
  await assert.rejects(asking, { code: 'gpu_lost' });
  give(late);
  await turns();
  assert.equal(late.destroyed, true);
});

test('work without errors gives its result', async () => {
  const { device, deadline } = await opened();
  assert.equal(await device.guarded(deadline, async () => 5), 5);
});

/** @type {Record<string, (at: Awaited<ReturnType<typeof opened>>) => (raw: any) => any>} */
const failures = {
  'an error in a scope': ({ gpu }) => () => {
    gpu.fault = 'errs';
  },
  'a promise that is rejected': () => () => Promise.reject(new Error('AbortError')),
  'an exception': () => () => {
    throw new TypeError('not a buffer');
  },
  'a device that the browser takes away': () => (raw) => {
    raw._lose({ reason: 'unknown' });
    return new Promise(() => {});
  },
  'an answer that never comes': ({ timers }) => () => {
    setImmediate(() => timers.pass(15_000));
    return new Promise(() => {});
  },
};
for (const [name, failing] of Object.entries(failures)) {
  test(`${name} ends the device for good`, async () => {
    const at = await opened();
    await assert.rejects(at.device.guarded(at.deadline, failing(at)), { code: 'gpu_lost' });
    assert.equal(at.gpu.devices[0].destroyed, true);
    at.gpu.fault = 'none';
    const again = at.device.guarded(at.deadline, () => assert.fail('it was asked again'));
    await assert.rejects(again, { code: 'gpu_lost' });
  });
}

test('a device that is lost while nothing is asked of it is known to be lost', async () => {
  const { device, gpu, deadline } = await opened();
  gpu.devices[0]._lose({ reason: 'unknown' });
  await turns();
  await assert.rejects(device.guarded(deadline, () => assert.fail('it was asked')), { code: 'gpu_lost' });
});
