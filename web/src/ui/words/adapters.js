// Adapters as people read of them.
import { placeOf } from '../../adapters/place.js';
import { t } from './languages/words.js';

/** @param {string | null} adapter as a chat keeps it @returns {string} */
export function adapterWords(adapter) {
  const { name, host } = placeOf(adapter);
  if (name === null) return t('none');
  return host === null ? name : t('{name} at {host}, encrypted', { name, host: hostWords(host) });
}

/** @param {string} host its origin @returns {string} */
export function hostWords(host) {
  return host.replace(/^https?:\/\//, '');
}
