// What a backend holds of a conversation, as far as is known.

/** @typedef {import('./trail.js').Trail} Trail */
/**
 * A step that appends the tokens from `start` to `stop` of `tokens`, of which everything before them is held; the last
 * `drafted` of them are a draft, of which a reply may take none.
 * @typedef {{tokens: number[], start: number, stop: number, drafted: number}} Change
 */

export class Belief {
  /** @param {Trail} trail where caches ended that were given up */
  constructor(trail) {
    this._trail = trail;
    /** What is held; empty where that is not known. @type {number[]} */
    this.tokens = [];
    /** So many of the last of them are a draft. */
    this._drafted = 0;
    /** Steps whose answers are awaited. @type {Change[]} */
    this._underWay = [];
    /** Steps that were broken off, and may have been appended or not. @type {Change[]} */
    this._brokenOff = [];
  }

  /** How many of the first of `tokens` are held. @param {number[]} tokens */
  shared(tokens) {
    return commonPrefix(this.tokens, tokens);
  }

  /** It is known what is held. @param {number[]} tokens @param {number} [drafted] */
  hold(tokens, drafted = 0) {
    this.tokens = tokens;
    this._drafted = drafted;
  }

  /** Nothing is held any more. @returns {number[]} what was */
  leave() {
    const left = this.tokens;
    const [first] = this._brokenOff;
    if (first) this._trail.note(first.tokens.slice(0, first.start));
    for (const { tokens, stop, drafted } of this._brokenOff) this._noteEnd(tokens.slice(0, stop), drafted);
    if (!first) this._noteEnd(left, this._drafted);
    this.hold([]);
    this._brokenOff = [];
    return left;
  }

  /** What is held behind `start` is about to be given up. @param {number} start */
  cutBack(start) {
    // A draft that is taken back was never a part of the conversation, and no server keeps it.
    if (start < this.tokens.length - this._drafted) this._noteEnd(this.tokens, this._drafted);
  }

  /** A step is about to leave: until its answer is here nobody knows what is held. @param {Change} change */
  sends(change) {
    this._underWay.push(change);
    this.hold([]);
  }

  /** The first of the steps that are under way was appended. */
  answered() {
    const change = this._underWay.shift();
    if (change && !this._underWay.length) this._holdAfter(change);
  }

  /**
   * The steps under way have no answer.
   * @param {number} unfinished how many of the first of them may have been appended all the same
   * @param {boolean} lost whether nothing is held any more
   */
  brokeOff(unfinished, lost) {
    const [first] = this._underWay;
    if (lost && first) this._trail.note(first.tokens.slice(0, first.start));
    this._brokenOff = this._underWay.slice(0, unfinished);
    this._underWay = [];
  }

  /**
   * The steps that were broken off are settled.
   * @param {number | null} through how many of the first of them were appended; null: nobody knows
   */
  settled(through) {
    const [first] = this._brokenOff;
    const last = this._brokenOff[(through ?? 0) - 1];
    this._brokenOff = [];
    if (through === null || !first) return;
    if (last) this._holdAfter(last);
    else this.hold(first.tokens.slice(0, first.start));
  }

  /** @param {Change} change */
  _holdAfter({ tokens, stop, drafted }) {
    this.hold(tokens.slice(0, stop), drafted);
  }

  /** A server may have kept `tokens` with their draft, or without. @param {number[]} tokens @param {number} drafted */
  _noteEnd(tokens, drafted) {
    if (drafted) this._trail.note(tokens.slice(0, tokens.length - drafted));
    this._trail.note(tokens);
  }
}

/** @param {number[]} left @param {number[]} right */
function commonPrefix(left, right) {
  const length = Math.min(left.length, right.length);
  for (let i = 0; i < length; i++) if (left[i] !== right[i]) return i;
  return length;
}
