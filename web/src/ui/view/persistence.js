/** @returns {Promise<string>} whether the browser may clear what the page keeps, in words */
import { t } from '../words/languages/words.js';

export async function storageIsPersistent() {
  try {
    const kept = await navigator.storage.persisted();
    return kept ? t('persistent') : t('the browser may clear it when space is short');
  } catch {
    return isSecureContext ? t('the browser may clear it') : t('the browser may clear it; plain http has no say in it');
  }
}
