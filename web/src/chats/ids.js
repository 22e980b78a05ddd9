/** Ids of chats. `crypto.getRandomValues` is there on http:// too, `randomUUID` is not. */

/** 96 random bits as hexadecimal digits. */
export function newId() {
  const bytes = crypto.getRandomValues(new Uint8Array(12));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
