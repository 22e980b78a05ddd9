// The engine worker: everything of a reply, off the page's thread.
import { Dispatcher } from './dispatcher.js';
import { Engine, METHODS } from './engine.js';

const scope = /** @type {DedicatedWorkerGlobalScope} */ (/** @type {unknown} */ (globalThis));
const send = (/** @type {any} */ message) => scope.postMessage(message);
/** @type {Dispatcher} */
const dispatcher = new Dispatcher(
  new Engine((notice) => dispatcher.notify(notice)),
  METHODS,
  send,
  (error) => console.error(error instanceof Error ? error.stack : 'unknown error'),
);
scope.onmessage = (message) => void dispatcher.receive(message.data);
