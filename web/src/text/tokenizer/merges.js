// The merge table of a byte pair encoding: a pair of ids to its rank and to the id of the two joined.

const EMPTY = -1;

/** Open addressing in flat arrays: a table of 300,000 pairs takes 8 MB. */
export class MergeTable {
  /** @param {number} count most pairs that will be set */
  constructor(count) {
    let size = 16;
    while (size < count * 1.6) size *= 2;
    this.mask = size - 1;
    this.left = new Int32Array(size).fill(EMPTY);
    this.right = new Int32Array(size);
    this.ranks = new Int32Array(size);
    this.joined = new Int32Array(size);
  }

  /**
   * A later rank of the same pair replaces the earlier.
   * @param {number} a
   * @param {number} b
   * @param {number} rank
   * @param {number} id
   */
  set(a, b, rank, id) {
    const slot = this.slot(a, b);
    this.left[slot] = a;
    this.right[slot] = b;
    this.ranks[slot] = rank;
    this.joined[slot] = id;
  }

  /** Where the pair is, -1 if nowhere. @param {number} a @param {number} b */
  find(a, b) {
    const slot = this.slot(a, b);
    return this.left[slot] === EMPTY ? -1 : slot;
  }

  /** @param {number} a @param {number} b */
  slot(a, b) {
    const { left, right, mask } = this;
    let hash = Math.imul(a, 0x9e3779b1) ^ Math.imul(b, 0x85ebca6b);
    hash ^= hash >>> 15;
    let slot = Math.imul(hash, 0x2c1b3c6d) >>> 7;
    for (slot &= mask; left[slot] !== EMPTY; slot = (slot + 1) & mask) {
      if (left[slot] === a && right[slot] === b) return slot;
    }
    return slot;
  }
}
