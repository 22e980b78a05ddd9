// What a server is asked to hold, and how much of its answer is believed.
import { equal } from './digest.js';
import { VERSION, encodeMessage } from './messages.js';
import { probeOf } from './probe.js';

/** @typedef {import('../../types/gatelink.js').DType} DType */
/** @typedef {import('./digest.js').PrefixChain} PrefixChain */
/** @typedef {import('./messages.js').Opened} Opened */

// Between two places at which a session is asked for what goes on from all that it holds.
const BLOCKS_BEHIND = 4;

export class Asked {
  /** @param {PrefixChain} chain of all that was asked for @param {number} start positions that are held in any case */
  constructor(chain, start) {
    this.chain = chain;
    this.start = start;
  }

  /**
   * Takes as held what was asked for, as far as its name proves it.
   * @param {number} cached @param {Uint8Array} prefix what the server says that it holds
   * @returns {PrefixChain} of what is held
   */
  believed(cached, prefix) {
    const { chain, start } = this;
    const held = cached >= start && cached <= chain.length && equal(prefix, chain.at(cached));
    chain.replace(held ? cached : start, []);
    return chain;
  }
}

/**
 * Asks for a session.
 * @param {string} manifest digest @param {DType | null} dtype null: the server's own
 * @param {{cacheSalt: string | null, cache: import('./steps/tiers.js').Cache, wait: boolean}} how
 * @param {PrefixChain | null} chain of rows that it may begin with
 */
export function openFrame(manifest, dtype, how, chain) {
  return encodeMessage({
    type: 'open',
    manifest,
    dtype,
    version: VERSION,
    capabilities: [],
    probe: chain && probeOf(chain),
    cacheGroup: null,
    shareUntil: 0,
    ...how,
  });
}

/**
 * Asks an open session to hold as much of `chain` as the server has.
 * @param {Opened} opened
 * @param {number} start positions of it that the session holds @param {PrefixChain} chain
 * @param {boolean} behind whether the session holds no more than those
 */
export function restoreFrame({ session }, start, chain, behind) {
  const prefix = chain.at(start);
  // Behind all that is held comes what is new as a rule, and the names of all that is held would go with it.
  const probe = probeOf(chain, start && behind ? BLOCKS_BEHIND : 1);
  return encodeMessage({ type: 'restore', session, start, prefix, probe });
}
