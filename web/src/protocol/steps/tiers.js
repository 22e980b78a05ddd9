// Tiers of kept keys and values: how near they are to those of the plain computation.
import { MalformedMessage, UnknownCache } from '../errors.js';
import { Fields } from '../fields.js';

/**
 * What a device may ask for: the worst tier that it takes, or nothing kept at all.
 * @typedef {'exact' | 'int8' | 'approximate' | 'off'} Cache
 */
/**
 * Of the positions of a cache those that are not exact, by tier. They are the last ones, `int8` before
 * `approximate`; a tier without positions is left out.
 * @typedef {{int8?: number, approximate?: number}} Tiers
 */

/** @type {readonly Cache[]} */
export const CACHES = Object.freeze(['exact', 'int8', 'approximate', 'off']);
/** @type {readonly ('int8' | 'approximate')[]} */
const INEXACT = Object.freeze(['int8', 'approximate']);

/** @param {string | null} value @returns {Cache} @throws {UnknownCache} */
export function cacheAsked(value) {
  const found = CACHES.find((cache) => cache === (value ?? 'exact'));
  if (found === undefined) throw new UnknownCache(String(value));
  return found;
}

/** @param {unknown} value of a message, whose other keys are ignored @returns {Tiers} @throws {MalformedMessage} */
export function tiersField(value) {
  /** @type {Tiers} */
  const tiers = {};
  if (value === null) return tiers;
  if (!(value instanceof Map)) throw new MalformedMessage("'tiers' must be a map");
  const fields = new Fields(value);
  for (const tier of INEXACT) {
    const count = fields.optionalCount(tier);
    if (count > 0) tiers[tier] = count;
  }
  return tiers;
}

/**
 * @param {Tiers} tiers of `held` positions @param {number} held
 * @param {number} first
 * @returns {number} how many of the `first` ones are not exact
 */
export function inexactWithin({ int8 = 0, approximate = 0 }, held, first) {
  return Math.max(0, Math.min(first, held) - Math.max(0, held - int8 - approximate));
}
