/** How the values of a chat become surrogates: what a person chooses, and what a chat begins with. */

/** @typedef {import('../types').Redaction} Redaction */
/** @typedef {import('../../../types/gatelink').RedactionChoice} RedactionChoice */

const SECRET_BYTES = 32;

/**
 * A chat's redaction from what was chosen, with a secret of its own.
 * @param {RedactionChoice | null | undefined} choice @param {number} [before] messages that have gone out as they are
 * @returns {Redaction | null} null: never chosen, or switched off
 */
export function begunRedaction(choice, before = 0) {
  if (!choice?.on) return null;
  const { on, groups, names, regions } = choice;
  return { on, groups, names, regions, secret: newSecret(), entries: [], before };
}

/** @returns {string} 32 random bytes in hex */
export function newSecret() {
  const bytes = crypto.getRandomValues(new Uint8Array(SECRET_BYTES));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
