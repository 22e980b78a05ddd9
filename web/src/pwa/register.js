/** The page's side of the service worker. */

const SCRIPT = '/service-worker.js';

/**
 * Keeps the app for when there is no network.
 * @param {{onNewVersion?: (build: string) => void, own?: string|null,
 *   navigator?: Pick<Navigator, 'serviceWorker'>, secure?: boolean}} [options]
 *   onNewVersion: another build than `own` (this page's) is here whole; the next load of the page is it
 * @returns {Promise<'on'|'unsupported'|'insecure'>} insecure: the page has no secure origin, or its
 *   certificate is not trusted
 */
export async function registerServiceWorker(options = {}) {
  const { onNewVersion = () => {}, own = ownBuild() } = options;
  const { navigator = globalThis.navigator, secure = globalThis.isSecureContext } = options;
  if (!secure) return 'insecure';
  const workers = navigator.serviceWorker;
  if (!workers) return 'unsupported';
  workers.addEventListener('message', ({ data }) => {
    if (data?.type === 'new_version' && data.build !== own) onNewVersion(String(data.build));
  });
  try {
    await workers.register(SCRIPT, { scope: '/', updateViaCache: 'none' });
  } catch (error) {
    // Browsers refuse the worker of a page whose certificate warning was clicked away.
    return error instanceof Error && error.name === 'SecurityError' ? 'insecure' : 'unsupported';
  }
  return 'on';
}

/**
 * Looks for a new version now: an app on a home screen is shown again for weeks without being loaded.
 * @param {Pick<ServiceWorkerContainer, 'controller'>|null} [workers]
 */
export function checkForNewVersion(workers = globalThis.navigator?.serviceWorker ?? null) {
  workers?.controller?.postMessage({ type: 'check' });
}

/** The build whose files this page was loaded from; null outside of one. */
export function ownBuild(url = import.meta.url) {
  return /\/app\/([\w-]{1,64})\/[^/]*$/.exec(url)?.[1] ?? null;
}
