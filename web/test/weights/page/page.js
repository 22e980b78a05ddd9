// `call(action, argument)` runs an action in the worker; failures come back as {error}.
import { askToKeep } from '../../../src/weights/persist.js';

const worker = new Worker('/worker.js', { type: 'module' });
/** @type {Map<number, (reply: object) => void>} */
const waiting = new Map();
let calls = 0;
worker.onmessage = ({ data }) => {
  waiting.get(data.id)?.(data);
  waiting.delete(data.id);
};

Object.assign(globalThis, {
  askToKeep: () => askToKeep(),
  call: (/** @type {string} */ action, /** @type {object} */ argument) =>
    new Promise((resolve) => {
      calls += 1;
      waiting.set(calls, resolve);
      worker.postMessage({ id: calls, action, argument });
    }),
});
