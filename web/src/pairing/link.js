/**
 * The part of a pairing link behind the #: CODE.FINGERPRINT, as `split-server pair` makes it. Browsers
 * do not send it.
 */

const CODE = /^[0-9A-Za-z-]{8,12}$/;
// 32 bytes in base64url without padding.
const FINGERPRINT = /^[A-Za-z0-9_-]{43}$/;
const SHOWN_BYTES = 16;

/**
 * @typedef {{code: string, fingerprint: string|null}} PairingLink `fingerprint`: the first 16 bytes of the
 *   SHA-256 of the server's authority, in hexadecimal groups of four as its terminal shows them
 */

/** @param {string} hash of a location, with its # @returns {PairingLink|null} null: no link's */
export function readLink(hash) {
  const [code, mark, ...rest] = hash.replace(/^#/, '').split('.');
  if (!CODE.test(code) || rest.length) return null;
  if (mark !== undefined && !FINGERPRINT.test(mark)) return null;
  return { code: shownCode(code), fingerprint: mark === undefined ? null : grouped(mark) };
}

/**
 * Reads the link of this page and takes it out of the address bar and the history, where others may see a
 * code that still counts.
 * @param {Location} location @param {History} history
 * @returns {PairingLink|null}
 */
export function takeLink(location, history) {
  const link = readLink(location.hash);
  if (location.hash) history.replaceState(null, '', location.pathname + location.search);
  return link;
}

/** @param {string} code @returns {string} as the terminal shows it, XXXX-XXXX */
function shownCode(code) {
  const plain = code.replaceAll('-', '').toUpperCase();
  return plain.length === 8 ? `${plain.slice(0, 4)}-${plain.slice(4)}` : code.toUpperCase();
}

/** @param {string} mark base64url @returns {string} */
function grouped(mark) {
  const binary = atob(mark.replaceAll('-', '+').replaceAll('_', '/') + '=');
  const hex = [...binary.slice(0, SHOWN_BYTES)].map((byte) => byte.charCodeAt(0).toString(16).padStart(2, '0'));
  return hex.join('').replace(/(.{4})(?!$)/g, '$1 ');
}
