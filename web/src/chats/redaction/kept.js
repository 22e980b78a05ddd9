/** What a page that went away left of a chat's redaction. */
import { isRedaction } from '../../settings/redaction_check.js';
import { isRecord } from '../plain.js';

/** @typedef {import('../types').Redaction} Redaction */

const SECRET = /^[0-9a-f]{64}$/;

/** A copy of its own fields; null where it is none. @param {unknown} value @returns {Redaction | null} */
export function redactionIn(value) {
  if (!isRedaction(value)) return null;
  const { on, groups, names, regions, secret, entries, before } = /** @type {Redaction} */ (value);
  const whole = typeof secret === 'string' && SECRET.test(secret) && Array.isArray(entries) && entries.every(isEntry);
  return whole && Number.isSafeInteger(before) ? { on, groups, names, regions, secret, entries, before } : null;
}

/** @param {unknown} item */
function isEntry(item) {
  return isRecord(item) && ['kind', 'key', 'value', 'surrogate', 'rule'].every((name) => typeof item[name] === 'string');
}
