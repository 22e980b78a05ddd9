/**
 * The routing id of this browser: by it a balancer brings all of its connections to the same machine. It means
 * nothing, is derived from nothing, and is no credential (docs/protocol.md, Routing).
 */

export const KEY = 'gatelink.routing';
const BYTES = 16;
// 16 bytes in base64url without padding: of the last letter two bits count.
const ID = /^[A-Za-z0-9_-]{21}[AQgw]$/;

/** Where the browser keeps nothing, as long as the page. @type {string | null} */
let made = null;

/** @returns {string} another one */
export function newRoutingId() {
  const bytes = crypto.getRandomValues(new Uint8Array(BYTES));
  return btoa(String.fromCharCode(...bytes)).replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '');
}

/** @param {unknown} text @returns {text is string} whether it may go into a URL as it is */
export function isRoutingId(text) {
  return typeof text === 'string' && ID.test(text);
}

/** @returns {string} the same whenever it is asked for, until `routeAnew` */
export function routingId() {
  // Another page may have made another one.
  made = kept() ?? made ?? newRoutingId();
  keep(made);
  return made;
}

/** @returns {string} another one, kept from here on */
export function routeAnew() {
  made = newRoutingId();
  keep(made);
  return made;
}

/** The next one is another. */
export function forgetRoutingId() {
  made = null;
  try {
    localStorage.removeItem(KEY);
  } catch {
    // Without storage there is none.
  }
}

/** @returns {string | null} */
function kept() {
  try {
    const id = localStorage.getItem(KEY);
    return isRoutingId(id) ? id : null;
  } catch {
    return null;
  }
}

/** @param {string} id */
function keep(id) {
  try {
    localStorage.setItem(KEY, id);
  } catch {
    // This page goes the same way all the same.
  }
}
