import { t } from '../words/languages/words.js';

const LOOPBACK = /^(localhost|.*\.localhost|127(\.\d{1,3}){3}|\[::1\])$/;

/** @typedef {Pick<Location, 'protocol' | 'hostname'>} Place */

/** @param {Place} place @returns {boolean} whether the page came from this machine */
export function isLoopback({ hostname }) {
  return LOOPBACK.test(hostname);
}

/** @param {Place} place @returns {boolean} whether what travels can be read on the way */
export function isExposed(place) {
  return place.protocol !== 'https:' && !isLoopback(place);
}

/** @param {Place} place @returns {string} how the way to the server is protected */
export function wayInWords(place) {
  if (place.protocol === 'https:') return t('TLS as far as this address; what stands there reads the frames.');
  if (isLoopback(place)) return t('Without TLS, within this machine.');
  return t('WITHOUT TLS: whoever is on the way can read what the server can, and the token.');
}
