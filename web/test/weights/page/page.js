// `call(action, argument)` runs an action in the worker; failures come back as {error}. At #remote/KEY the
// page asks the server what to run: developer tools, which a driver of the browser opens, keep all that was
// fetched in memory.
import { askToKeep } from '../../../src/weights/persist.js';

const worker = new Worker('/worker.js', { type: 'module' });
/** @type {Map<number, (reply: object) => void>} */
const waiting = new Map();
let calls = 0;
worker.onmessage = ({ data }) => {
  waiting.get(data.id)?.(data);
  waiting.delete(data.id);
};

/** @param {string} action @param {object} argument @returns {Promise<object>} */
function call(action, argument) {
  return new Promise((resolve) => {
    calls += 1;
    waiting.set(calls, resolve);
    worker.postMessage({ id: calls, action, argument });
  });
}

async function obey() {
  for (;;) {
    const { action, argument } = await (await fetch(`/step/${location.hash.split('/')[1]}`)).json();
    await fetch('/report', { method: 'POST', body: JSON.stringify(await call(action, argument)) });
  }
}

Object.assign(globalThis, { askToKeep: () => askToKeep(), call });
if (location.hash.startsWith('#remote/')) obey();
