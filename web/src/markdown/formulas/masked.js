/**
 * Text whose formulas are out of the lexer's way: each is a character for private use (Unicode,
 * section 23.5) in its place, so that what is markdown in other text is none in it.
 */
import { withoutControls } from '../entities.js';
import { DOLLAR, closingAt, dollarCloses, isFormula, openedAt } from './delimiters.js';

/** @typedef {import('../types').Formula} Formula */
/** @typedef {import('./delimiters.js').Delimiters} Delimiters */
/** What a mask stands for; without a formula for its own source. @typedef {{source: string, formula: Formula | null}} Held */

// A mask is one character, so that of a text with more of them the rest stays text.
const FIRST = 0xe000;
const MOST = 6400;
const MASKS = /[\ue000-\uf8ff]/g;
const CANDIDATES = /[\ue000-\uf8ff]|\\[\s\S]|`+|\$+/g;
const ADDRESS = /(?:https?:\/\/|\]\()\S*$/;
const LONGEST_ADDRESS = 200;
const LONGEST_OPEN = 400;
// The prefix of a quote's lines is no relation.
const QUOTED = /\n[ \t]*>[ \t]?/g;

/**
 * @param {string} text of one segment
 * @param {{open?: boolean}} [how] open: the text still grows, and what a delimiter begins at its end is a formula already
 * @returns {{text: string, held: Held[]}}
 */
export function masked(text, { open = false } = {}) {
  return /[$\\\ue000-\uf8ff]/.test(text) ? new Masking(text, open).whole() : { text, held: [] };
}

/** What masks stood for. @param {string} text @param {readonly Held[]} held @returns {string} */
export function sourceOf(text, held) {
  return held.length ? text.replace(MASKS, (mask) => heldBy(mask, held)?.source ?? mask) : text;
}

/**
 * `text` in parts: strings, and what stands for a formula.
 * @param {string} text @param {readonly Held[]} held @returns {(string | Formula)[]}
 */
export function partsOf(text, held) {
  /** @type {(string | Formula)[]} */
  const parts = [];
  let from = 0;
  for (const { 0: mask, index } of held.length ? text.matchAll(MASKS) : []) {
    const formula = heldBy(mask, held)?.formula;
    if (!formula) continue;
    if (index > from) parts.push(sourceOf(text.slice(from, index), held));
    parts.push(formula);
    from = index + 1;
  }
  if (from < text.length) parts.push(sourceOf(text.slice(from), held));
  return parts;
}

/** @param {string} mask @param {readonly Held[]} held */
function heldBy(mask, held) {
  return held[mask.charCodeAt(0) - FIRST];
}

class Masking {
  /** @param {string} text @param {boolean} open */
  constructor(text, open) {
    this.text = text;
    this.open = open;
    this.quoted = /^ {0,3}>/.test(text);
    /** @type {Held[]} */
    this.held = [];
    /** Where each closing delimiter stands next, so that a text is looked through once for each. @type {Map<string, number>} */
    this.next = new Map();
  }

  whole() {
    const { text } = this;
    let out = '';
    let from = 0;
    CANDIDATES.lastIndex = 0;
    for (let found = CANDIDATES.exec(text); found; found = CANDIDATES.exec(text)) {
      if (this.held.length === MOST) break;
      const end = this.#endOf(found[0], found.index);
      if (end === 0) continue;
      if (end > 0) {
        const { index } = found;
        const source = text.slice(index, end);
        if (found[0][0] !== '`') {
          out += text.slice(from, index) + this.#mask(source);
          from = end;
        }
        CANDIDATES.lastIndex = end;
      }
    }
    return { text: out + text.slice(from), held: this.held };
  }

  /** The end of what begins with `mark`; 0: it begins nothing. @param {string} mark @param {number} at */
  #endOf(mark, at) {
    if (mark[0] === '`') return this.#endOfCode(mark, at + mark.length);
    if (mark[0] !== '$' && mark[0] !== '\\') return at + 1;
    if (mark[0] === '$' && mark.length > 2) return 0;
    const delimiters = openedAt(this.text, at);
    if (!delimiters || this.#isInAddress(at)) return 0;
    const inner = at + delimiters.open.length;
    const end = delimiters === DOLLAR ? this.#closingDollar(inner) : this.#closing(delimiters.close, inner);
    if (end < 0) return delimiters !== DOLLAR && this.#mayStillClose(inner) ? this.text.length : 0;
    return isFormula(delimiters, this.text.slice(inner, end)) ? end + delimiters.close.length : 0;
  }

  /** Whether the text grows yet, and what began at `from` may be a formula. @param {number} from */
  #mayStillClose(from) {
    const rest = this.text.length - from;
    return this.open && rest <= LONGEST_OPEN && !/\n[ \t]*\n/.test(this.text.slice(from));
  }

  /** @param {string} mark @param {number} from */
  #endOfCode(mark, from) {
    const end = this.#nextOf(mark, from, () => {
      const runs = new RegExp(`(?<!\`)${mark}(?!\`)`, 'g');
      return (at) => ((runs.lastIndex = at), runs.exec(this.text)?.index ?? -1);
    });
    return end < 0 ? 0 : end + mark.length;
  }

  /** @param {string} mark @param {number} from */
  #closing(mark, from) {
    return this.#nextOf(mark, from, () => (at) => closingAt(this.text, mark, at));
  }

  /** @param {number} from */
  #closingDollar(from) {
    return this.#nextOf('$', from, () => (at) => {
      let end = this.text.indexOf('$', at);
      while (end >= 0 && !dollarCloses(this.text, end)) end = this.text.indexOf('$', end + 1);
      return end;
    });
  }

  /**
   * @param {string} mark @param {number} from @param {() => (at: number) => number} search
   * @returns {number} -1: there is none any more
   */
  #nextOf(mark, from, search) {
    const known = this.next.get(mark);
    if (known !== undefined && (known < 0 || known >= from)) return known;
    const found = search()(from);
    this.next.set(mark, found);
    return found;
  }

  /** @param {number} at */
  #isInAddress(at) {
    return ADDRESS.test(this.text.slice(Math.max(0, at - LONGEST_ADDRESS), at));
  }

  /** @param {string} source */
  #mask(source) {
    const delimiters = MASKS.test(source[0]) ? null : openedAt(source, 0);
    MASKS.lastIndex = 0;
    this.held.push({ source, formula: delimiters && this.#formula(source, delimiters) });
    return String.fromCharCode(FIRST + this.held.length - 1);
  }

  /** @param {string} source @param {Delimiters} delimiters @returns {Formula} */
  #formula(source, { open, close, display }) {
    const whole = source.endsWith(close) && source.length >= open.length + close.length;
    const inner = withoutControls(whole ? source.slice(open.length, -close.length) : source);
    const tex = this.quoted ? inner.replace(QUOTED, '\n') : inner;
    return { type: 'formula', tex: tex.trim(), display, open: !whole };
  }
}
