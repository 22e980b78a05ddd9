/** The token of this browser, kept where only pages of this server read it. */
import { forgetRoutingId } from '../settings/routing_id.js';
import { TokenNotKept } from './errors.js';

const KEY = 'gatelink.token';
// As the server takes them (docs/configuration.md, Tokens).
const TOKEN = /^[A-Za-z0-9._~+/=-]{16,512}$/;

/** @param {string} text @returns {boolean} whether `text` can be a token */
export function isToken(text) {
  return TOKEN.test(text);
}

/** @param {string} token @throws {TokenNotKept} where the browser withholds storage */
export function storeToken(token) {
  try {
    localStorage.setItem(KEY, token);
    forgetRoutingId();
  } catch (error) {
    throw new TokenNotKept(error);
  }
}

/** @returns {string|null} null: none, or storage is withheld */
export function loadToken() {
  try {
    const token = localStorage.getItem(KEY);
    return token !== null && isToken(token) ? token : null;
  } catch {
    return null;
  }
}

/** Leaves nothing of the token in this browser. */
export function forgetToken() {
  try {
    localStorage.removeItem(KEY);
    forgetRoutingId();
  } catch {
    // Without storage there is none.
  }
}
