/**
 * Cuts markdown into runs of lines that can be read each by itself (CommonMark 0.31, container and
 * leaf blocks at the left margin), in one pass over the lines. A reply that streams changes only its
 * last run, so that all others keep what was made of them.
 */

import { withoutControls } from './entities.js';
import { LONGEST_FORMULA, closingAt, opened } from './formulas/delimiters.js';

/** @typedef {import('./types').Segment} Segment */
/** @typedef {import('./formulas/delimiters.js').Delimiters} Delimiters */

const LONGEST = 32_000;
const FENCE = /^( {0,3})(`{3,}(?=[^`]*$)|~{3,})(.*)$/;
const ATX = /^ {0,3}#{1,6}(?:[ \t]|$)/;
const RULE = /^ {0,3}(?:(?:\*[ \t]*){3,}|(?:-[ \t]*){3,}|(?:_[ \t]*){3,})$/;
const ITEM = /^ {0,3}(?:[-+*]|\d{1,9}[.)])(?:[ \t]|$)/;
// Of ordered lists only those that begin with 1 end a paragraph, and no empty item does.
const ITEM_AFTER_TEXT = /^ {0,3}(?:[-+*]|1[.)])[ \t]+\S/;
// At the very margin an item is never within another.
const OUTER_ITEM = /^(?:([-+*])|\d{1,9}([.)]))(?:[ \t]|$)/;
const QUOTE = /^ {0,3}>/;
const BLANK = /^[ \t]*$/;
// What may stand behind a formula on its last line.
const END_OF_SENTENCE = /^[ \t]*([.,;:!?]?)[ \t]*$/;
const INNER_FENCE = /^[ \t]*(?:(?:[-+*]|\d{1,9}[.)])[ \t]+)?(`{3,}(?=[^`]*$)|~{3,})/;

/**
 * @param {string} text
 * @param {{streaming?: boolean}} [how] streaming: more follows, so that a formula may still end
 * @returns {Segment[]} in order; their texts have no blank lines around them
 */
export function segmentsOf(text, { streaming = false } = {}) {
  const reader = new SegmentReader();
  for (const line of text.replace(/\r\n?/g, '\n').split('\n')) reader.line(line);
  return reader.end(streaming);
}

class SegmentReader {
  constructor() {
    /** @type {Segment[]} */
    this.segments = [];
    /** @type {string[]} */
    this.lines = [];
    this.length = 0;
    /** What the run is: '' before its first line. @type {''|'fence'|'formula'|'list'|'quote'|'indented'|'text'} */
    this.kind = '';
    /** The mark that opened a fence, in lists too. */
    this.mark = '';
    this.indent = 0;
    this.lang = '';
    this.blank = false;
    /** The bullet or delimiter of the list that goes on. */
    this.bullet = '';
    this.joins = false;
    this.apart = false;
    /** Those of the formula that goes on. @type {Delimiters | null} */
    this.delimiters = null;
    /** Whether a line may begin a formula; not where one was given up. */
    this.formulas = true;
  }

  /** @param {string} line @returns {void} */
  line(line) {
    if (this.kind === 'fence') return this.#inFence(line);
    if (this.kind === 'formula') return this.#inFormula(line);
    if (BLANK.test(line)) return this.#blank(line);
    if (this.#isNextItem(line)) this.#nextItem();
    else if (this.kind && !this.#continues(line)) this.#close();
    if (!this.kind) this.#begin(line);
    else this.#add(line);
    this.blank = false;
  }

  /** @param {boolean} streaming */
  end(streaming) {
    if (this.kind === 'formula' && !streaming) this.#giveUp();
    this.#close(this.kind === 'fence');
    return this.segments;
  }

  /** @param {string} line */
  #begin(line) {
    const fence = FENCE.exec(line);
    if (fence) {
      this.kind = 'fence';
      [this.indent, this.mark, this.lang] = [fence[1].length, fence[2], fence[3].trim()];
      return;
    }
    this.delimiters = this.#formulaOf(line);
    if (this.delimiters) {
      this.kind = 'formula';
      return this.#inFormula(line, line.indexOf(this.delimiters.open) + this.delimiters.open.length);
    }
    this.#add(line);
    if (ATX.test(line) || RULE.test(line)) return this.#close();
    if (ITEM.test(line)) {
      this.kind = 'list';
      this.bullet = bulletOf(line);
    } else if (QUOTE.test(line)) this.kind = 'quote';
    else this.kind = /^(?: {4}|\t)/.test(line) ? 'indented' : 'text';
    this.#followInnerFence(line);
  }

  /** @param {string} line */
  #inFence(line) {
    const closing = /^ {0,3}(`{3,}|~{3,})[ \t]*$/.exec(line);
    if (closing && closing[1][0] === this.mark[0] && closing[1].length >= this.mark.length) {
      return this.#close();
    }
    const own = this.indent && /^ */.exec(line)?.[0].length;
    this.lines.push(own ? line.slice(Math.min(own, this.indent)) : line);
  }

  /**
   * The delimiters of a display that begins with a line and has its lines for itself.
   * @param {string} line @returns {Delimiters | null}
   */
  #formulaOf(line) {
    const delimiters = this.formulas ? opened(line) : null;
    if (!delimiters) return null;
    const end = closingAt(line, delimiters.close, line.indexOf(delimiters.open) + delimiters.open.length);
    return end < 0 || END_OF_SENTENCE.test(line.slice(end + delimiters.close.length)) ? delimiters : null;
  }

  /** @param {string} line @param {number} [from] behind what opens it @returns {void} */
  #inFormula(line, from = 0) {
    const { close } = /** @type {Delimiters} */ (this.delimiters);
    const end = closingAt(line, close, from);
    this.lines.push(end < 0 ? line : line.slice(0, end + close.length));
    this.length += line.length + 1;
    const ends = this.length > LONGEST_FORMULA || (close === '$$' && BLANK.test(line));
    if (end < 0) return ends ? this.#giveUp() : undefined;
    const rest = line.slice(end + close.length);
    const point = END_OF_SENTENCE.exec(rest)?.[1];
    if (this.length > LONGEST_FORMULA) return this.#giveUp(rest);
    this.#close(false, point);
    return point === undefined ? this.line(rest) : undefined;
  }

  /** What began as a formula is none: its lines are text, and no formula begins in them. @param {string} [rest] @returns {void} */
  #giveUp(rest = '') {
    const lines = this.lines;
    lines[lines.length - 1] += rest;
    [this.lines, this.length, this.kind, this.formulas] = [[], 0, '', false];
    for (const line of lines) this.line(line);
    this.formulas = true;
  }

  /** @param {string} line */
  #blank(line) {
    if (this.kind === 'list' || this.kind === 'indented') {
      this.blank = true;
      this.lines.push(line);
    } else if (this.kind) this.#close();
  }

  /** Whether a line begins an item beside the one before. @param {string} line */
  #isNextItem(line) {
    if (this.kind !== 'list' || this.mark || RULE.test(line)) return false;
    return this.bullet !== '' && bulletOf(line) === this.bullet;
  }

  /** Items are read each by itself, so that the last one of a long list costs no more than others. */
  #nextItem() {
    const apart = this.blank;
    this.#close();
    this.joins = true;
    this.apart = apart;
  }

  /** Whether a line that is not blank belongs to the run. @param {string} line */
  #continues(line) {
    if (this.length > LONGEST) return false;
    const indented = /^(?: {2}|\t)/.test(line);
    if (this.kind === 'list') {
      if (this.mark && indented) return true;
      if (indented || (ITEM.test(line) && !RULE.test(line))) return true;
      return !this.blank && !startsBlock(line) && !this.#formulaOf(line);
    }
    if (this.kind === 'indented') return /^(?: {4}|\t)/.test(line);
    if (this.kind === 'quote') return QUOTE.test(line) || !(startsBlock(line) || ITEM.test(line));
    // '---' below text makes it a heading.
    if (FENCE.test(line) || ATX.test(line) || QUOTE.test(line) || ITEM_AFTER_TEXT.test(line)) return false;
    return !this.#formulaOf(line);
  }

  /** @param {string} line */
  #add(line) {
    this.lines.push(line);
    this.length += line.length + 1;
    if (this.kind === 'list') this.#followInnerFence(line);
  }

  /** Within a fence of a list item nothing begins a block. @param {string} line */
  #followInnerFence(line) {
    if (this.kind !== 'list') return;
    const fence = INNER_FENCE.exec(line);
    if (!this.mark) this.mark = fence?.[1] ?? '';
    else if (fence && fence[1][0] === this.mark[0] && fence[1].length >= this.mark.length) this.mark = '';
    else if (!/^[ \t]/.test(line)) this.mark = '';
  }

  /** @param {boolean} [open] @param {string} [point] what ends the sentence behind a formula */
  #close(open = false, point) {
    if (this.kind === 'formula') this.segments.push(this.#formula(point));
    else if (this.kind === 'fence') {
      this.segments.push({ kind: 'fence', text: this.lines.join('\n'), lang: this.lang, open });
    } else if (this.lines.length) {
      const text = this.lines.join('\n').replace(/\s+$/, '');
      this.segments.push(this.kind === 'list' ? this.#item(text) : { kind: 'other', text });
    }
    this.lines = [];
    this.length = 0;
    this.kind = '';
    this.mark = '';
    this.blank = false;
    this.joins = false;
    this.apart = false;
  }

  /** @param {string} [point] missing: it has not ended @returns {Segment} */
  #formula(point) {
    const source = withoutControls(this.lines.join('\n'));
    if (point === undefined && !this.#ended(source)) return { kind: 'formula', text: source, open: true };
    const { open, close, keeps } = /** @type {Delimiters} */ (this.delimiters);
    const tex = keeps ? source : source.slice(source.indexOf(open) + open.length, -close.length);
    return { kind: 'formula', text: tex.trim() + (point ?? '') };
  }

  /** @param {string} source of a formula */
  #ended(source) {
    const { open, close } = /** @type {Delimiters} */ (this.delimiters);
    return source.endsWith(close) && source.trimStart().length >= open.length + close.length;
  }

  /** @param {string} text @returns {Segment} */
  #item(text) {
    return this.joins ? { kind: 'list', text, joins: true, apart: this.apart } : { kind: 'list', text };
  }
}

/** '' for a line that begins no item at the margin. @param {string} line */
function bulletOf(line) {
  const found = OUTER_ITEM.exec(line);
  return found?.[1] ?? found?.[2] ?? '';
}

/** @param {string} line */
function startsBlock(line) {
  return FENCE.test(line) || ATX.test(line) || QUOTE.test(line) || RULE.test(line);
}
