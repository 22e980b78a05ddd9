import { NothingAllowed, TokenIdOutOfRange } from './errors.js';

// Reading so many rows of the LM head one by one costs less than scoring all of them.
export const FEW = 2048;

/**
 * The tokens that may be chosen, in the form in which choosing among them is cheap: `mask` [rows] is 1 for
 * the members, of which there is at least one; `members` are their ids, rising, where they are few; `others`
 * are the ids of all other tokens, rising, where those are few and the members are not.
 */
export class TokenSet {
  /**
   * Throws NothingAllowed.
   * @param {Uint8Array} mask [rows] of 0 and 1
   * @param {number} [few] for tests
   */
  constructor(mask, few = FEW) {
    this.mask = mask;
    this.size = 0;
    for (const member of mask) this.size += member;
    if (this.size === 0) throw new NothingAllowed();
    this.members = this.size <= few ? idsOf(mask, 1) : null;
    this.others = this.members === null && mask.length - this.size <= few ? idsOf(mask, 0) : null;
  }

  /**
   * All tokens 0..rows-1 but `banned`. Throws NothingAllowed, TokenIdOutOfRange.
   * @param {Iterable<number>} banned
   * @param {number} rows
   * @param {number} [few] for tests
   */
  static without(banned, rows, few) {
    const mask = new Uint8Array(rows).fill(1);
    for (const token of banned) {
      if (!(token >= 0 && token < rows)) throw new TokenIdOutOfRange(token, rows);
      mask[token] = 0;
    }
    return new TokenSet(mask, few);
  }

  /** The members that are set in `mask` [rows] too. Throws NothingAllowed. @param {Uint8Array} mask */
  within(mask) {
    return new TokenSet(mask.map((allowed, id) => allowed & this.mask[id]));
  }
}

/** @param {Uint8Array} mask @param {number} value @returns {Int32Array} rising */
function idsOf(mask, value) {
  const ids = [];
  for (let id = 0; id < mask.length; id++) if (mask[id] === value) ids.push(id);
  return Int32Array.from(ids);
}
