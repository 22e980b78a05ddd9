// The bearer token as it travels: RFC 6750 over HTTP; as a subprotocol where a browser sets no header.
import { TokenInvalid } from './errors.js';

const PRINTABLE = /^[!-~]+$/;

/**
 * Headers for `token`, none for an empty one.
 * @param {string | null} token
 * @returns {Record<string, string>}
 * @throws {TokenInvalid}
 */
export function authorization(token) {
  return token ? { Authorization: `Bearer ${checked(token)}` } : {};
}

/**
 * The subprotocol that carries `token`, none for an empty one: base64url (RFC 4648, 5) without
 * padding, because a subprotocol is an HTTP token.
 * @param {string | null} token
 * @returns {string[]}
 * @throws {TokenInvalid}
 */
export function credentialProtocols(token) {
  if (!token) return [];
  const encoded = btoa(checked(token)).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
  return [`split.bearer.${encoded}`];
}

/** @param {string} token */
function checked(token) {
  if (!PRINTABLE.test(token)) throw new TokenInvalid();
  return token;
}
