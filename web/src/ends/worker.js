import { openShard } from '../weights/shard.js';
import { readBesideBundle } from './kernels.js';
import { ShardServer } from './shard_server.js';

// A worker of the ends: holds a shard of the tables and answers what ends.js asks.
const scope = /** @type {DedicatedWorkerGlobalScope} */ (/** @type {unknown} */ (self));
const server = new ShardServer({
  openShard,
  readModule: readBesideBundle,
  // Only in secure contexts.
  gpu: scope.navigator.gpu,
  // A file of its own, which browsers without WebGPU do not fetch.
  loadGpu: () => import('./gpu/open.js'),
  post: (message, transfer = []) => scope.postMessage(message, transfer),
});
scope.onmessage = ({ data }) => server.receive(data);
