// The engine worker: everything of a reply, off the page's thread.
import { requireAble } from './browser_support.js';
import { Dispatcher } from './dispatcher.js';
import { Engine, METHODS } from './engine.js';

const scope = /** @type {DedicatedWorkerGlobalScope} */ (/** @type {unknown} */ (globalThis));
const send = (/** @type {any} */ message) => scope.postMessage(message);

/** Where it failed; the message of an error may quote a text. @param {unknown} error */
function report(error) {
  if (!(error instanceof Error)) return;
  const frames = (error.stack ?? '').split('\n').filter((line) => /^\s+at |@/.test(line));
  console.error(error.name, frames.join('\n'));
}

/** @type {Dispatcher} */
const dispatcher = new Dispatcher(
  new Engine((notice) => dispatcher.notify(notice), { able: requireAble }),
  METHODS,
  send,
  report,
);
scope.onmessage = (message) => void dispatcher.receive(message.data);
