/** Losses of a page whose server the browser does not trust: what it withholds. */

/** @typedef {'plain'|'untrusted'|'no_worker'} Loss */

/** @type {Record<Loss, {title: string, words: string[]}>} */
const LOSSES = {
  plain: {
    title: 'This connection is not encrypted.',
    words: [
      'Everybody on the way can read and change what travels, your token and your chats included.',
      'The browser keeps its fast storage, offline use, installing, and the wake lock from this page.',
      'Start the server without "--tls off" and open its https:// address.',
    ],
  },
  untrusted: {
    title: 'This server is not trusted yet.',
    words: [
      'The warning was only clicked away. The connection is encrypted, but your browser cannot tell this server ' +
        'from another machine in between.',
      'The app does not open offline, cannot be installed, and some phones refuse its WebSocket: it then takes HTTP.',
      'Trust the certificate as shown below, and all of that works.',
    ],
  },
  no_worker: {
    title: 'The app will not open offline here.',
    words: [
      'This browser gives the page no service worker, as in a private window or after a certificate warning ' +
        'was clicked away. The chat works all the same.',
    ],
  },
};

/**
 * A certificate error that was clicked away shows only when a service worker is registered.
 * @param {{isSecureContext: boolean, serviceWorkers: Pick<ServiceWorkerContainer, 'register'>|undefined}} page
 * @returns {Promise<Loss|null>} null: nothing is lost
 */
export async function findLoss({ isSecureContext, serviceWorkers }) {
  if (!isSecureContext) return 'plain';
  if (!serviceWorkers) return 'no_worker';
  try {
    await serviceWorkers.register('/service-worker.js');
    return null;
  } catch (error) {
    return error instanceof DOMException && error.name === 'SecurityError' ? 'untrusted' : 'no_worker';
  }
}

/** @param {Loss} loss @returns {{title: string, words: string[]}} */
export function describeLoss(loss) {
  return LOSSES[loss];
}
