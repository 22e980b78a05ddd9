import { folded } from '../folding.js';
import { Squeezed } from '../squeezed.js';

/** @typedef {import('../kinds.js').Kind} Kind */
/** @typedef {import('../kinds.js').Found} Found */

/** A text that is looked at: folded, squeezed, and for whom. */
export class Looked {
  /**
   * @param {string} source @param {readonly string[]} [regions] whose numbers may be written without their country's code
   * @param {import('../folding.js').Folded} [own] it folded
   */
  constructor(source, regions = [], own = folded(source)) {
    this.source = source;
    this.regions = regions;
    this.folded = own;
    /** @type {Squeezed | null} */
    this._squeezed = null;
  }

  /** Folded. */
  get text() {
    return this.folded.text;
  }

  get lower() {
    return this.folded.lower;
  }

  get squeezed() {
    this._squeezed ??= new Squeezed(this.text);
    return this._squeezed;
  }

  /** The same with what was found out of sight. @param {readonly Found[]} found */
  without(found) {
    return found.length ? new Looked(this.source, this.regions, this.folded.without(found)) : this;
  }

  /** Whether a date with slashes begins with its month. */
  get monthsFirst() {
    return this.regions[0] === 'US';
  }

  /**
   * What stands at those folded characters.
   * @param {Kind} kind @param {string} key @param {number} start @param {number} end @param {string} [rule]
   * @param {import('../kinds.js').DateParts | null} [parts] @returns {Found}
   */
  found(kind, key, start, end, rule = '', parts = null) {
    const { from, to } = this.folded.range(start, end);
    return { kind, key, start, end, written: this.source.slice(from, to), rule, parts };
  }
}
