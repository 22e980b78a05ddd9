import { Worker } from 'node:worker_threads';

/** Starts the worker of forms as the engine would; `counts` tells how often, and `last` may be ended by a test. */
export function spawning() {
  const counts = { started: 0, ended: 0 };
  /** @type {{die: () => void}} */
  const last = { die: () => {} };
  const spawn = () => {
    counts.started += 1;
    const worker = new Worker(new URL('./node_worker.js', import.meta.url));
    const shown = {
      onmessage: /** @type {any} */ (null),
      onerror: /** @type {any} */ (null),
      postMessage: (/** @type {unknown} */ data) => worker.postMessage(data),
      terminate: () => {
        counts.ended += 1;
        void worker.terminate();
      },
    };
    worker.on('message', (data) => shown.onmessage?.({ data }));
    worker.on('error', (error) => shown.onerror?.({ error }));
    last.die = () => {
      void worker.terminate();
      shown.onerror?.({});
    };
    return shown;
  };
  return { spawn, counts, last };
}
