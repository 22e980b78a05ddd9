// The worker that looks at texts on their way out; a file of a megabyte takes a part of a second.
import { RedactionServer } from './server.js';

const scope = /** @type {DedicatedWorkerGlobalScope} */ (/** @type {unknown} */ (self));
const server = new RedactionServer((answer) => scope.postMessage(answer));
self.onmessage = ({ data }) => void server.receive(data);
