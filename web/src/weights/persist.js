/**
 * Ask the browser not to evict what the app stores; called in the page, since workers may not ask.
 * @returns {Promise<'kept'|'refused'|'unsupported'>}
 */
export async function askToKeep(storage = globalThis.navigator?.storage) {
  if (!storage?.persist) return 'unsupported';
  try {
    return (await storage.persisted()) || (await storage.persist()) ? 'kept' : 'refused';
  } catch {
    return 'unsupported';
  }
}
