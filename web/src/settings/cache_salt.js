/** A random word of this browser, by which a server that takes no token tells its chats from those of others. */

export const KEY = 'gatelink.cache_salt';
const SALT = /^[0-9a-f]{32}$/;

/** Where the browser keeps nothing, as long as the page. @type {string | null} */
let made = null;

/** @returns {string} the same whenever it is asked for */
export function cacheSalt() {
  made ??= kept() ?? keep(random());
  return made;
}

/** @returns {string | null} */
function kept() {
  try {
    const salt = localStorage.getItem(KEY);
    return salt !== null && SALT.test(salt) ? salt : null;
  } catch {
    return null;
  }
}

/** @param {string} salt */
function keep(salt) {
  try {
    localStorage.setItem(KEY, salt);
  } catch {
    // Chats of this page find what it left all the same.
  }
  return salt;
}

/** 16 bytes in hex. */
function random() {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
