// Which tokens may follow a state: a walk over the tree of tokens with the state's derivatives.
//
// Much of a walk is the same wherever a state stands, as inside of any string: what a head alone lets through is kept,
// with the places where it may end, and only those go on with what follows the head (after XGrammar, Dong et al. 2024).
import { bodyOf } from '../language/expressions.js';
import { shortest, shortestText } from '../language/shortest.js';

/** @typedef {import('../language/expressions.js').Expression} Expression */
/**
 * What a head alone lets through below a node: tokens, nodes at which it may end, and how much its rest may still need.
 * @typedef {{tokens: Int32Array, exits: number[], worst: number}} Inside
 */

// Below smaller nodes a walk costs less than keeping it.
const SMALL = 64;
// Tokens kept of all walks, in entries of 4 bytes.
const MAX_KEPT = 8 << 20;
const OVERHEAD = 64;

export class Masks {
  /** @param {import('./trie.js').TokenTree} tree @param {import('../form.js').Language} language */
  constructor(tree, { expressions }) {
    this._tree = tree;
    this._x = expressions;
    /** @type {Map<string, Inside>} */
    this._kept = new Map();
    this._entries = 0;
  }

  /**
   * Sets in `mask` [rows] the tokens after which `of` can be completed by at most `left` more.
   * @param {Expression} of @param {number} left @param {Uint8Array} mask
   */
  allow(of, left, mask) {
    this._fill(of, 0, left, mask);
  }

  /** Keeps what a part lets through, where that is long. @param {Expression} of */
  warm(of) {
    if (!of.max || of.max < Infinity) return;
    this._inside(this._shortened(of), 0);
  }

  /** What follows the bytes of `token`; `never`: it may not come. @param {Expression} of @param {number} token */
  after(of, token) {
    const text = this._tree.texts[token];
    if (!text) return this._x.never;
    for (let at = 0; at < text.length; at++) of = this._next(of, text.charCodeAt(at));
    return of;
  }

  /** Whether at most `left` tokens can complete it. @param {Expression} of @param {number} left */
  fits(of, left) {
    const bytes = shortest(this._x, of);
    if (bytes <= left) return true;
    if (bytes > left * this._tree.longest) return false;
    of.tokens ??= this._tree.fewest(shortestText(this._x, of, bytes));
    return of.tokens <= left;
  }

  /** @param {Expression} of @param {number} byte */
  _next(of, byte) {
    const next = this._x.after(of, byte);
    return shortest(this._x, next) === Infinity ? this._x.never : next;
  }

  /** @param {Expression} of @param {number} node @param {number} left @param {Uint8Array} mask */
  _fill(of, node, left, mask) {
    const { end, byte } = this._tree;
    if (end[node] === node + 1 || of === this._x.never) return;
    if (of.kind === 'alt' && of.parts.some((part) => isWide(headOf(part)))) {
      for (const part of of.parts) this._fill(part, node, left, mask);
      return;
    }
    if (end[node] - node > SMALL && this._filledFromKept(of, node, left, mask)) return;
    for (let child = node + 1; child < end[node]; child = end[child]) {
      const next = this._next(of, byte[child]);
      if (next === this._x.never) continue;
      if (this._tree.has(child) && this.fits(next, left)) this._set(child, mask);
      this._fill(next, child, left, mask);
    }
  }

  /** @param {Expression} of @param {number} node @param {number} left @param {Uint8Array} mask */
  _filledFromKept(of, node, left, mask) {
    const head = headOf(of);
    if (head.kind === 'ref') {
      const rest = of.kind === 'cat' ? of.parts[1] : this._x.empty;
      this._fill(this._x.cat(bodyOf(head), rest), node, left, mask);
      return true;
    }
    if (!isWide(head)) return false;
    const rest = of.kind === 'cat' ? of.parts[1] : null;
    const inside = this._inside(this._shortened(head), node);
    if (inside.worst + (rest ? shortest(this._x, rest) : 0) > left) return false;
    for (const token of inside.tokens) mask[token] = 1;
    if (rest) for (const exit of inside.exits) this._fill(rest, exit, left, mask);
    return true;
  }

  /** @param {Expression} head @param {number} node @returns {Inside} */
  _inside(head, node) {
    const key = `${head.id} ${node}`;
    const known = this._kept.get(key);
    if (known) return known;
    /** @type {number[]} */
    const tokens = [];
    const found = { exits: /** @type {number[]} */ ([]), worst: 0 };
    if (head.nullable) found.exits.push(node);
    this._walk(head, node, tokens, found);
    const inside = { tokens: Int32Array.from(tokens), ...found };
    this._entries += tokens.length + found.exits.length + OVERHEAD;
    if (this._entries > MAX_KEPT) {
      this._kept.clear();
      this._entries = tokens.length;
    }
    this._kept.set(key, inside);
    return inside;
  }

  /**
   * @param {Expression} of @param {number} node @param {number[]} tokens
   * @param {{exits: number[], worst: number}} found
   */
  _walk(of, node, tokens, found) {
    const { end, byte, first, order } = this._tree;
    for (let child = node + 1; child < end[node]; child = end[child]) {
      const next = this._next(of, byte[child]);
      if (next === this._x.never) continue;
      for (let at = first[child]; at < first[child + 1]; at++) tokens.push(order[at]);
      if (this._tree.has(child)) found.worst = Math.max(found.worst, shortest(this._x, next));
      if (next.nullable) found.exits.push(child);
      this._walk(next, child, tokens, found);
    }
  }

  /**
   * A count that no token can reach is none, so that what differs by it alone is walked once.
   * @param {Expression} head
   */
  _shortened(head) {
    if (head.kind !== 'repeat') return head;
    const { longest } = this._tree;
    return this._x.repeat(head.parts[0], Math.min(head.min, longest + 1), head.max > longest ? Infinity : head.max);
  }

  /** @param {number} node @param {Uint8Array} mask */
  _set(node, mask) {
    const { first, order } = this._tree;
    for (let at = first[node]; at < first[node + 1]; at++) mask[order[at]] = 1;
  }
}

/** @param {Expression} of */
function headOf(of) {
  return of.kind === 'cat' ? of.parts[0] : of;
}

/** Whether many different bytes may come. @param {Expression} head */
function isWide(head) {
  return head.kind === 'repeat' || head.kind === 'both' || head.kind === 'not' || head.kind === 'ref';
}
