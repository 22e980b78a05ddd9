import { createContext } from 'preact';
import { useContext } from 'preact/hooks';

/** @typedef {import('../state/app.js').App} App */

export const AppContext = createContext(/** @type {App} */ (/** @type {unknown} */ (null)));

/** @returns {App} */
export function useApp() {
  return useContext(AppContext);
}
