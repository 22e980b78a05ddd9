// Probes: prefixes of a conversation that a device asks its server for before it sends them.
//
// A device names every `stride`-th prefix of its rows by the chained digest, and the whole of them.
import { MalformedMessage } from './errors.js';

/** @typedef {import('./digest.js').PrefixChain} PrefixChain */
/**
 * @typedef {object} Probe
 * @property {number} known positions that are asked for at most
 * @property {number} stride
 * @property {Uint8Array} digests 16 bytes for each multiple of `stride` below `known`, and for `known`
 */

/** The capability of a server that can be asked. */
export const RESTORE = 'restore';
// Positions by which caches are named; every stride is a multiple of it.
const BLOCK = 16;
const MAX_DIGESTS = 2049;
const DIGEST_BYTES = 16;

/**
 * Asks for all of `chain`, which is not empty: at every block if the digests allow it, or at every so many `blocks`.
 * @param {PrefixChain} chain
 * @param {number} [blocks]
 * @returns {Probe}
 */
export function probeOf(chain, blocks = 1) {
  const known = chain.length;
  const stride = BLOCK * Math.max(blocks, Math.ceil(known / (BLOCK * (MAX_DIGESTS - 1))));
  const count = Math.ceil(known / stride);
  const digests = new Uint8Array(DIGEST_BYTES * count);
  for (let i = 0; i < count; i++) digests.set(chain.at(Math.min(known, stride * (i + 1))), DIGEST_BYTES * i);
  return { known, stride, digests };
}

/** @param {import('./fields.js').Fields} fields @returns {Probe | null} null: nothing is asked for */
export function probeField(fields) {
  const known = fields.optionalCount('known');
  if (!known) return null;
  const stride = fields.count('stride');
  if (!stride || stride % BLOCK) throw new MalformedMessage(`'stride' must be a multiple of ${BLOCK}`);
  const count = Math.ceil(known / stride);
  if (count > MAX_DIGESTS) throw new MalformedMessage(`'stride' is too small for ${MAX_DIGESTS} digests`);
  return { known, stride, digests: fields.digest('digests', DIGEST_BYTES * count) };
}
