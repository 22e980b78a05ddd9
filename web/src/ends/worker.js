import { openShard } from '../weights/shard.js';
import { readBesideBundle } from './kernels.js';
import { ShardServer } from './shard_server.js';

// A worker of the ends: holds a shard of the tables and answers what ends.js asks.
const scope = /** @type {DedicatedWorkerGlobalScope} */ (/** @type {unknown} */ (self));
const server = new ShardServer({
  openShard,
  readModule: readBesideBundle,
  post: (message, transfer = []) => scope.postMessage(message, transfer),
});
scope.onmessage = ({ data }) => server.receive(data);
