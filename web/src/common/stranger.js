// Words of a server that is not trusted.

const CODE = /^[a-z0-9_]{1,64}$/;
const MAX_MESSAGE = 1000;
// Controls, formats, surrogates, private and unassigned characters, and every separator but a space.
const UNPRINTABLE = /[\p{C}\p{Zl}\p{Zp}]|(?! )\p{Zs}/gu;

/**
 * The first `limit` characters of a stranger's text; what is not printable becomes a space.
 * @param {string} text
 * @param {number} limit
 */
export function printable(text, limit) {
  // Twice as many units hold that many characters, however long the text is.
  return [...text.slice(0, 2 * limit)].slice(0, limit).join('').replace(UNPRINTABLE, ' ');
}

/** Whether `text` is what codes of errors are made of. @param {string} text */
export function isCode(text) {
  return CODE.test(text);
}

/**
 * The error in `{"error": {"code", "message", "retryable"}}` (docs/protocol.md, "Refusals and closing").
 * @param {Uint8Array} body
 * @returns {{code: string, message: string, retryable: boolean} | null} null: none, as in somebody else's page
 */
export function readRefusal(body) {
  let error;
  try {
    error = JSON.parse(new TextDecoder().decode(body))?.error;
  } catch {
    return null;
  }
  const { code, message, retryable } = error ?? {};
  if (typeof code !== 'string' || !isCode(code) || typeof message !== 'string') return null;
  return { code, message: printable(message, MAX_MESSAGE), retryable: retryable === true };
}
