// The worker of encrypted adapters: makes keys, encrypts, decrypts.
import { systemEntropy } from './entropy.js';
import { Ring } from './ring.js';
import { KeyServer } from './server.js';

const scope = /** @type {DedicatedWorkerGlobalScope} */ (/** @type {unknown} */ (self));
const server = new KeyServer(() => Ring.open(), systemEntropy, (answer, transfer) => scope.postMessage(answer, transfer));
scope.onmessage = ({ data }) => void server.receive(data);
