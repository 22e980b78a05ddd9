/**
 * Serves the app where there is no network (Service Workers, W3C). It answers for the app's own
 * files only; requests with credentials, weights, sessions and pairing never pass through it.
 */
import { AppCache } from './app_cache.js';
import { isShared, keepShared } from './shared.js';

const worker = /** @type {ServiceWorkerGlobalScope} */ (/** @type {unknown} */ (self));
const cache = new AppCache({
  caches,
  fetch: (url, options) => fetch(url, options),
  origin: worker.location.origin,
});
// Milliseconds.
const BETWEEN_CHECKS = 60_000;
let checked = -Infinity;

worker.addEventListener('install', (event) => {
  event.waitUntil(installed());
});
worker.addEventListener('activate', (event) => {
  event.waitUntil(worker.clients.claim());
});
worker.addEventListener('message', (event) => {
  if (event.data?.type === 'check') event.waitUntil(check());
});
worker.addEventListener('fetch', (event) => {
  const { request } = event;
  if (isShared(request, worker.location.origin)) return event.respondWith(keepShared(request, caches));
  if (!cache.mayAnswer(request)) return;
  event.respondWith(cache.answer(request).then((kept) => kept ?? fetch(request)));
  if (request.mode === 'navigate') event.waitUntil(check());
});

worker.addEventListener('notificationclick', (event) => {
  event.notification.close();
  event.waitUntil(comeForward());
});

/** The page that is open, or a new one. */
async function comeForward() {
  const [page] = await worker.clients.matchAll({ type: 'window', includeUncontrolled: true });
  await (page ? page.focus() : worker.clients.openWindow('/'));
}

/** Caches are kept by build, so that a new worker may serve the pages of an old one at once. */
async function installed() {
  try {
    await tell(await cache.update());
  } catch (error) {
    // Offline a new worker can still serve the build that is here.
    if (!(await cache.current())) throw error;
  }
  await worker.skipWaiting();
}

/** Looks for a new build, and tells the open pages once it is here whole. */
async function check() {
  if (performance.now() - checked < BETWEEN_CHECKS) return;
  checked = performance.now();
  await tell(await cache.update().catch(() => null));
}

/** Pages of that build take no notice. @param {string|null} build */
async function tell(build) {
  if (!build) return;
  for (const client of await worker.clients.matchAll({ type: 'window', includeUncontrolled: true })) {
    client.postMessage({ type: 'new_version', build });
  }
}
