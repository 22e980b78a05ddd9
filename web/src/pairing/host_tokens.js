/** Tokens of adapter hosts, by their origin, kept where only pages of this server read them. */
import { TokenNotKept } from './errors.js';
import { isToken } from './token.js';

const KEY = 'gatelink.adapter-hosts';
const MOST = 64;

/** @param {string | null} host its origin @returns {string | null} null: none, or storage is withheld */
export function loadHostToken(host) {
  return host === null ? null : (kept().get(host) ?? null);
}

/** @param {string} host @param {string} token @throws {TokenNotKept} where the browser withholds storage */
export function storeHostToken(host, token) {
  const others = [...kept()].filter(([known]) => known !== host).slice(1 - MOST);
  try {
    localStorage.setItem(KEY, JSON.stringify(Object.fromEntries([...others, [host, token]])));
  } catch (error) {
    throw new TokenNotKept(error);
  }
}

/** Leaves nothing of a host's token in this browser. @param {string} host */
export function forgetHostToken(host) {
  const others = [...kept()].filter(([known]) => known !== host);
  try {
    if (others.length) localStorage.setItem(KEY, JSON.stringify(Object.fromEntries(others)));
    else localStorage.removeItem(KEY);
  } catch {
    // Without storage there is none.
  }
}

/** @returns {Map<string, string>} */
function kept() {
  try {
    const found = Object.entries(JSON.parse(localStorage.getItem(KEY) ?? '{}'));
    return new Map(/** @type {[string, string][]} */ (found.filter(([, token]) => typeof token === 'string' && isToken(token))));
  } catch {
    return new Map();
  }
}
