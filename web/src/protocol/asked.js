// What a server was asked to hold, and how much of its answer is believed.
import { equal } from './digest.js';

/** @typedef {import('./digest.js').PrefixChain} PrefixChain */

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
