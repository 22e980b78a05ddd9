// The worker that follows forms; its owner may kill it at any time.
import { FormServer } from './server.js';

const scope = /** @type {DedicatedWorkerGlobalScope} */ (/** @type {unknown} */ (self));
const server = new FormServer((message, transfer = []) => scope.postMessage(message, transfer));
self.onmessage = ({ data }) => void server.receive(data);
