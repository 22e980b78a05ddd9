// Byte pair encoding of one word: the pair of the lowest rank is joined first, the leftmost of equals.
//
// A heap of candidates, so a word of n symbols takes n log n steps (Sennrich et al., 2016).

// A candidate is one number: rank * POSITIONS + position. Ranks and positions stay below 2^24.
const POSITIONS = 2 ** 24;
const GONE = -1;

/** Symbols of a word being merged, with buffers that are used again. */
export class Merging {
  /** @param {import('./merges.js').MergeTable} table */
  constructor(table) {
    this.table = table;
    this.symbols = new Int32Array(64);
    this.before = new Int32Array(64);
    this.after = new Int32Array(64);
    this.heap = new Float64Array(64);
    this.candidates = 0;
  }

  /** @param {ArrayLike<number>} word ids @returns {number[]} ids */
  merge(word) {
    const count = word.length;
    this.load(word);
    for (let at = 0; at + 1 < count; at += 1) this.consider(at);
    while (this.candidates > 0) this.join(this.pop());
    const merged = [];
    for (let at = 0; at < count && at !== GONE; at = this.after[at]) merged.push(this.symbols[at]);
    return merged;
  }

  /** @param {ArrayLike<number>} word */
  load(word) {
    const count = word.length;
    if (count > this.symbols.length) {
      this.symbols = new Int32Array(count * 2);
      this.before = new Int32Array(count * 2);
      this.after = new Int32Array(count * 2);
    }
    for (let at = 0; at < count; at += 1) {
      this.symbols[at] = word[at];
      this.before[at] = at - 1;
      this.after[at] = at + 1 < count ? at + 1 : GONE;
    }
    this.candidates = 0;
  }

  /** The symbol at `at` and the next may be joined. @param {number} at */
  consider(at) {
    const slot = this.table.find(this.symbols[at], this.symbols[this.after[at]]);
    if (slot >= 0) this.push(this.table.ranks[slot] * POSITIONS + at);
  }

  /** @param {number} candidate */
  join(candidate) {
    const at = candidate % POSITIONS;
    const next = this.after[at];
    if (this.symbols[at] === GONE || next === GONE) return;
    const slot = this.table.find(this.symbols[at], this.symbols[next]);
    // Another join has changed one of the two meanwhile.
    if (slot < 0 || this.table.ranks[slot] !== (candidate - at) / POSITIONS) return;
    this.symbols[at] = this.table.joined[slot];
    this.symbols[next] = GONE;
    this.after[at] = this.after[next];
    if (this.after[at] !== GONE) {
      this.before[this.after[at]] = at;
      this.consider(at);
    }
    if (this.before[at] !== GONE) this.consider(this.before[at]);
  }

  /** @param {number} candidate */
  push(candidate) {
    if (this.candidates === this.heap.length) {
      const larger = new Float64Array(this.heap.length * 2);
      larger.set(this.heap);
      this.heap = larger;
    }
    const { heap } = this;
    let at = this.candidates++;
    for (let parent = (at - 1) >> 1; at > 0 && heap[parent] > candidate; parent = (at - 1) >> 1) {
      heap[at] = heap[parent];
      at = parent;
    }
    heap[at] = candidate;
  }

  /** @returns {number} the least */
  pop() {
    const { heap } = this;
    const least = heap[0];
    const last = heap[--this.candidates];
    let at = 0;
    for (let child = 1; child < this.candidates; child = 2 * at + 1) {
      if (child + 1 < this.candidates && heap[child + 1] < heap[child]) child += 1;
      if (heap[child] >= last) break;
      heap[at] = heap[child];
      at = child;
    }
    heap[at] = last;
    return least;
  }
}
