import { AdapterListInvalid } from './errors.js';

// More commas and brackets than any list of adapters has, inside its texts too.
const MAX_MARKS = 20_000;
const MARKS = /[,[{]/g;
const STRINGS = /"(?:[^"\\]|\\.)*"\s*(:?)/g;

/**
 * The JSON object in `bytes` from a peer that is not trusted: UTF-8, bounded, no key twice in one object.
 * Throws AdapterListInvalid.
 * @param {Uint8Array} bytes
 * @returns {Record<string, unknown>}
 */
export function parseObject(bytes) {
  const [text, value] = parsed(bytes);
  if (value === null || typeof value !== 'object' || Array.isArray(value)) {
    throw new AdapterListInvalid('the JSON must be an object');
  }
  let written = 0;
  for (const [, colon] of text.matchAll(STRINGS)) if (colon) written++;
  // JSON.parse keeps the last of equal keys; then fewer are left than the text has.
  if (written !== keysIn(value)) throw new AdapterListInvalid('a key occurs twice in the JSON');
  return /** @type {Record<string, unknown>} */ (value);
}

/** @param {Uint8Array} bytes @returns {[string, unknown]} */
function parsed(bytes) {
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
    const marks = text.match(MARKS)?.length ?? 0;
    if (marks > MAX_MARKS) throw new AdapterListInvalid('the JSON holds too many values');
    return [text, JSON.parse(text)];
  } catch (error) {
    throw error instanceof AdapterListInvalid ? error : new AdapterListInvalid('not readable as JSON', error);
  }
}

/** @param {object} value */
function keysIn(value) {
  let count = 0;
  const open = [value];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (!Array.isArray(next)) count += Object.keys(next).length;
    open.push(...Object.values(next).filter((inner) => inner !== null && typeof inner === 'object'));
  }
  return count;
}
