// The worker of forms in a thread of Node.js, which has no `self`.
import { parentPort } from 'node:worker_threads';

const port = /** @type {import('node:worker_threads').MessagePort} */ (parentPort);
const scope = /** @type {any} */ (globalThis);
scope.self = { postMessage: (/** @type {unknown} */ data, /** @type {any} */ transfer) => port.postMessage(data, transfer) };
await import('../../src/grammar/worker.js');
port.on('message', (data) => scope.self.onmessage({ data }));
