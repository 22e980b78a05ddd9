import { t } from '../../words/languages/words.js';

const TAG = 'gatelink-reply';

/** Shows that a reply has ended while nobody looked at the page, and nothing of it. */
export async function tellOfReply() {
  if (document.visibilityState === 'visible') return;
  if (!('Notification' in window) || Notification.permission !== 'granted') return;
  const how = { body: t('A reply is ready'), tag: TAG, icon: '/icons/icon-192.png' };
  // On phones only a service worker may show one.
  const worker = await navigator.serviceWorker?.getRegistration().catch(() => undefined);
  if (worker) return worker.showNotification('Gatelink', how);
  const shown = new Notification('Gatelink', how);
  shown.onclick = () => {
    window.focus();
    shown.close();
  };
}
