// The ledger as it is stored: one document with a checksum, written whole, read suspiciously.
//
// The fields are those of the terminal client's file; `spent` is text, so that the checksum is of its bytes.
import { sha256 } from '@noble/hashes/sha2.js';
import { bytesToHex } from '@noble/hashes/utils.js';
import { LedgerDamaged, LedgerFailed } from '../errors.js';
import { Spent } from './spent.js';

/**
 * By identity, then by the digest of the model's manifest. @typedef {Map<string, Map<string, Spent>>} Accounts
 */
/** @typedef {{format: string, version: number, spent: string, sha256: string}} LedgerDocument */

const FORMAT = 'gatelink.noise-ledger';
const VERSION = 1;
const MAX_CHARACTERS = 16 << 20;
const encoder = new TextEncoder();

/**
 * @param {Accounts} accounts @returns {LedgerDocument} @throws {LedgerFailed} where it has grown too large
 */
export function documentOf(accounts) {
  const spent = JSON.stringify([...accounts].map(([identity, models]) => [
    identity,
    [...models].map(([model, { entries }]) => [model, entries]),
  ]));
  if (spent.length > MAX_CHARACTERS) throw new LedgerFailed('it has grown too large');
  return { format: FORMAT, version: VERSION, spent, sha256: digestOf(spent) };
}

/** @param {unknown} stored undefined: there is none @returns {Accounts | null} @throws {LedgerDamaged} */
export function accountsIn(stored) {
  if (stored === undefined) return null;
  const { format, version, spent, sha256: digest } = /** @type {Partial<LedgerDocument>} */ (Object(stored));
  if (format !== FORMAT) throw new LedgerDamaged('it is not a noise ledger');
  if (version !== VERSION) {
    throw new LedgerDamaged(`its version is not ${VERSION}; reload the page to update it`);
  }
  if (typeof spent !== 'string' || digest !== digestOf(spent)) {
    throw new LedgerDamaged('its checksum does not match');
  }
  try {
    return new Map(listIn(JSON.parse(spent)).map(([identity, models]) => [
      identity,
      new Map(listIn(models).map(([model, entries]) => [model, spentIn(entries)])),
    ]));
  } catch {
    throw new LedgerDamaged('an entry is not as one should be');
  }
}

/** The checksum of a stored text. @param {string} text */
export function digestOf(text) {
  return bytesToHex(sha256(encoder.encode(text)));
}

/** @param {unknown} entries @returns {Spent} throws where one is not as it should be */
export function spentIn(entries) {
  if (!Array.isArray(entries)) throw new TypeError('entries');
  return Spent.total(entries.map(({ sigma, distance, width, rows, sendings }) => {
    const isPositive = (/** @type {unknown} */ value) =>
      typeof value === 'number' && value > 0 && value < Infinity;
    const positive = isPositive(sigma) && isPositive(distance);
    const whole = [width, rows, sendings].every((value) => Number.isSafeInteger(value) && value >= 0);
    if (!positive || !whole || width < 1) throw new RangeError('entry');
    return { sigma, distance, width, rows, sendings };
  }));
}

/** @param {unknown} value @returns {[string, unknown][]} */
function listIn(value) {
  const isPair = (/** @type {unknown} */ pair) => Array.isArray(pair) && typeof pair[0] === 'string';
  if (!Array.isArray(value) || !value.every(isPair)) throw new TypeError('list');
  return value;
}
