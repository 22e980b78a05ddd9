// The tokens of a vocabulary as a tree of bytes, in the order of a walk: a node's descendants follow it up to `end`.

/**
 * `bytes` of all tokens one after the other; those of token t are `offsets[t]` to `offsets[t + 1]` (exclusive).
 * A token without bytes is never written.
 * @typedef {{bytes: Uint8Array, offsets: Uint32Array}} TokenBytes
 */

export class TokenTree {
  /** @param {TokenBytes} tokens */
  constructor({ bytes, offsets }) {
    const rows = offsets.length - 1;
    this.rows = rows;
    this.texts = Array.from({ length: rows }, (_, token) => textOf(bytes, offsets[token], offsets[token + 1]));
    const order = Array.from({ length: rows }, (_, token) => token).filter((token) => this.texts[token]);
    order.sort((a, b) => (this.texts[a] < this.texts[b] ? -1 : this.texts[a] > this.texts[b] ? 1 : a - b));
    const most = order.reduce((sum, token) => sum + this.texts[token].length, 1);
    /** The byte that leads to a node; the first node is the root. */
    this.byte = new Uint8Array(most);
    /** Behind the last of a node's descendants. */
    this.end = new Uint32Array(most);
    /** Tokens that end at a node: `order[first[node]]` up to `order[first[node + 1]]`, exclusive. */
    this.first = new Uint32Array(most + 1);
    this.order = Uint32Array.from(order);
    this.longest = this.texts.reduce((longest, text) => Math.max(longest, text.length), 0);
    this.nodes = this._build();
  }

  /** The child of a node; -1: there is none. @param {number} node @param {number} byte */
  child(node, byte) {
    const { end } = this;
    for (let child = node + 1; child < end[node]; child = end[child]) if (this.byte[child] === byte) return child;
    return -1;
  }

  /** Whether a token begins with `text` and is longer. @param {string} text from @param {number} at */
  goesOn(text, at) {
    let node = 0;
    for (; at < text.length && node !== -1; at++) node = this.child(node, text.charCodeAt(at));
    return node !== -1 && this.end[node] > node + 1;
  }

  /**
   * The least number of tokens whose bytes are `text`; infinite where none are.
   * @param {string} text bytes
   */
  fewest(text) {
    const counts = new Float64Array(text.length + 1).fill(Infinity);
    counts[0] = 0;
    for (let at = 0; at < text.length; at++) {
      if (counts[at] === Infinity) continue;
      let node = 0;
      for (let to = at; to < text.length; to++) {
        node = this.child(node, text.charCodeAt(to));
        if (node === -1) break;
        if (this.has(node)) counts[to + 1] = Math.min(counts[to + 1], counts[at] + 1);
      }
    }
    return counts[text.length];
  }

  /** Whether a token ends there. @param {number} node */
  has(node) {
    return this.first[node + 1] > this.first[node];
  }

  /** @returns {number} how many nodes there are */
  _build() {
    const path = [0];
    let nodes = 1;
    let before = '';
    this.order.forEach((token, place) => {
      const text = this.texts[token];
      const shared = sharedLength(before, text);
      while (path.length > shared + 1) this.end[/** @type {number} */ (path.pop())] = nodes;
      for (let at = shared; at < text.length; at++) {
        this.byte[nodes] = text.charCodeAt(at);
        this.first[nodes] = place;
        path.push(nodes++);
      }
      before = text;
    });
    while (path.length) this.end[/** @type {number} */ (path.pop())] = nodes;
    this.first[nodes] = this.order.length;
    return nodes;
  }
}

/** @param {Uint8Array} bytes @param {number} from @param {number} to @returns {string} one UTF-16 unit each */
function textOf(bytes, from, to) {
  let text = '';
  for (let at = from; at < to; at++) text += String.fromCharCode(bytes[at]);
  return text;
}

/** @param {string} one @param {string} other */
function sharedLength(one, other) {
  const most = Math.min(one.length, other.length);
  let at = 0;
  while (at < most && one.charCodeAt(at) === other.charCodeAt(at)) at++;
  return at;
}
