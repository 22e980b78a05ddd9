/** @returns {Storage | null} null: the browser keeps nothing of this page */
export function pageStorage() {
  try {
    const storage = localStorage;
    storage.getItem('');
    return storage;
  } catch {
    return null;
  }
}
