// A worker of the ends whose GPU goes away when it is told: as ends.js, but for the message 'destroy'.
import { openShard } from '../../../src/weights/shard.js';
import { readBesideBundle } from '../../../src/ends/kernels.js';
import { ShardServer } from '../../../src/ends/shard_server.js';

/** @type {GPUDevice[]} */
const devices = [];
const gpu = navigator.gpu && {
  wgslLanguageFeatures: navigator.gpu.wgslLanguageFeatures,
  async requestAdapter() {
    const adapter = /** @type {GPUAdapter} */ (await navigator.gpu.requestAdapter());
    return {
      info: adapter.info,
      async requestDevice() {
        devices.push(await adapter.requestDevice());
        return devices.at(-1);
      },
    };
  },
};
const server = new ShardServer({
  openShard,
  readModule: readBesideBundle,
  gpu: /** @type {any} */ (gpu),
  loadGpu: () => import('../../../src/ends/gpu/open.js'),
  post: (message, transfer = []) => /** @type {any} */ (self).postMessage(message, transfer),
});
self.onmessage = ({ data }) => {
  if (data === 'destroy') devices.forEach((device) => device.destroy());
  else server.receive(data);
};
