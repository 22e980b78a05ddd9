// Where an adapter is computed: NAME by the server, in the clear; NAME@ORIGIN by a host, on ciphertexts.

/** By the words of each message. */
export const AUTO = 'auto';

/**
 * @param {string | null} adapter as chats and settings keep it
 * @returns {{name: string | null, host: string | null}} host: its origin; null: the server
 */
export function placeOf(adapter) {
  const [name, host] = (adapter ?? '').split(/@(.*)/s);
  return { name: name || null, host: host || null };
}

/** @param {string} name @param {string} host its origin */
export function placedAt(name, host) {
  return `${name}@${host}`;
}
