// Finds the tokens of a set in a text: the leftmost first, of those the longest.

/** @typedef {{next: Map<number, Node>, id: number | null}} Node keyed by UTF-16 units */

export class TokenTrie {
  constructor() {
    /** @type {Node} */
    this.root = { next: new Map(), id: null };
  }

  /** The first of equal texts counts. @param {string} text not empty @param {number} id */
  add(text, id) {
    let node = this.root;
    for (let at = 0; at < text.length; at += 1) {
      const unit = text.charCodeAt(at);
      let next = node.next.get(unit);
      if (!next) {
        next = { next: new Map(), id: null };
        node.next.set(unit, next);
      }
      node = next;
    }
    node.id ??= id;
  }

  /**
   * Matches that do not overlap, in order.
   * @param {string} text
   * @returns {Generator<{start: number, end: number, id: number}>}
   */
  *matches(text) {
    if (this.root.next.size === 0) return;
    for (let start = 0; start < text.length;) {
      const match = this.longest(text, start);
      if (match) yield match;
      start = match ? match.end : start + 1;
    }
  }

  /** @param {string} text @param {number} start */
  longest(text, start) {
    let found = null;
    let at = start;
    for (
      let node = this.root.next.get(text.charCodeAt(at));
      node;
      node = node.next.get(text.charCodeAt(at))
    ) {
      at += 1;
      if (node.id !== null) found = { start, end: at, id: node.id };
    }
    return found;
  }
}
