/** The page's side of the service worker. */

const SCRIPT = '/service-worker.js';

/** @typedef {EventTarget & {visibilityState: string}} Page */

/**
 * Keeps the app for when there is no network, and looks for a new version whenever the page is shown
 * again: an app on a home screen is not loaded for weeks.
 * @param {{onNewVersion?: (build: string) => void, own?: string|null, page?: Page,
 *   navigator?: Pick<Navigator, 'serviceWorker'>, secure?: boolean}} [options]
 *   onNewVersion: another build than `own` (this page's) is here whole; the next load of the page is it
 * @returns {Promise<'on'|'unsupported'|'insecure'>} insecure: the page has no secure origin, or its
 *   certificate is not trusted
 */
export async function registerServiceWorker(options = {}) {
  const { onNewVersion = () => {}, own = ownBuild(), page = globalThis.document } = options;
  const { navigator = globalThis.navigator, secure = globalThis.isSecureContext } = options;
  if (!secure) return 'insecure';
  const workers = navigator.serviceWorker;
  if (!workers) return 'unsupported';
  workers.addEventListener('message', ({ data }) => {
    if (data?.type === 'new_version' && data.build !== own) onNewVersion(String(data.build));
  });
  page.addEventListener('visibilitychange', () => {
    if (page.visibilityState === 'visible') workers.controller?.postMessage({ type: 'check' });
  });
  try {
    await workers.register(SCRIPT, { scope: '/', updateViaCache: 'none' });
  } catch (error) {
    // Browsers refuse the worker of a page whose certificate warning was clicked away.
    return error instanceof Error && error.name === 'SecurityError' ? 'insecure' : 'unsupported';
  }
  return 'on';
}

/** The build whose files this page was loaded from; null outside of one. */
export function ownBuild(url = import.meta.url) {
  return /\/app\/([\w-]{1,64})\/[^/]*$/.exec(url)?.[1] ?? null;
}
