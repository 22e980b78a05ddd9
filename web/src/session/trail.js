// Where the cache of a sequence ended whenever it was given up: there a server may keep it.

// No server keeps less under a name.
const SHORTEST = 16;
const MOST_ENDS = 64;

export class Trail {
  constructor() {
    /** Token ids of caches that were cut back or lost, the oldest first. @type {number[][]} */
    this.ends = [];
  }

  /** A cache that held `tokens` is given up. @param {number[]} tokens */
  note(tokens) {
    if (tokens.length < SHORTEST || this.ends.some((end) => isSame(end, tokens))) return;
    // What is older than so many branches goes by itself sooner.
    this.ends = [...this.ends, [...tokens]].slice(-MOST_ENDS);
  }

  /** Nothing of it is kept any more. */
  clear() {
    this.ends = [];
  }
}

/** @param {number[]} a @param {number[]} b */
function isSame(a, b) {
  return a.length === b.length && a.every((id, index) => id === b[index]);
}
