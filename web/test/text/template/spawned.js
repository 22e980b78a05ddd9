import { Worker } from 'node:worker_threads';

/** Starts the template worker as a page would; `started` counts. */
export function spawning() {
  const counts = { started: 0, ended: 0 };
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
    return shown;
  };
  return { spawn, counts };
}
