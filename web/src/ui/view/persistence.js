/** @returns {Promise<string>} whether the browser may clear what the page keeps, in words */
export async function storageIsPersistent() {
  try {
    const kept = await navigator.storage.persisted();
    return kept ? 'persistent' : 'the browser may clear it when space is short';
  } catch {
    return isSecureContext ? 'the browser may clear it' : 'the browser may clear it; plain http has no say in it';
  }
}
