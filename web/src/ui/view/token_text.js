// Tokens as spans of text whose colours change often: written by hand, so that a change touches only the
// spans that it is about.
import { levelOf } from './shares.js';

/** @typedef {import('../../engine/messages.js').Span} Span */
/** @typedef {import('./shares.js').Shares} Shares */

// How many spans are put up at once, so that a long chat does not hold up the page.
const AT_ONCE = 150;
// A line of the text that is longer goes on in another one at its next space: each is laid out by itself.
const MOST_IN_LINE = 200;
const NO_LEVEL = -1;

/** The text in an element of the page. */
export class TokenText {
  /**
   * @param {HTMLElement} place
   * @param {(run: () => void) => unknown} [frame]
   */
  constructor(place, frame = (run) => requestAnimationFrame(run)) {
    this._place = place;
    this._frame = frame;
    /** @type {Span[]} */
    this._spans = [];
    /** Of the spans from the first shown one on. @type {HTMLElement[]} */
    this._elements = [];
    /** @type {number[]} */
    this._levels = [];
    this._hidden = 0;
    /** @type {HTMLElement | null} */
    this._line = null;
    /** @type {Shares | null} */
    this._shares = null;
    /** @type {number | null} */
    this._chosen = null;
    this._asked = false;
  }

  /**
   * Shows spans, more of those that were shown before.
   * @param {Span[]} spans all
   * @param {number} hidden how many of the first ones are left out; the first call decides
   */
  show(spans, hidden) {
    if (!this._elements.length) this._hidden = hidden;
    this._spans = spans;
    this._write();
  }

  /** @param {Shares} shares of the spans @param {number | null} chosen span that they are those of */
  colour(shares, chosen) {
    this._shares = shares;
    for (let i = 0; i < this._elements.length; i++) this._level(i);
    this._element(this._chosen)?.classList.remove('chosen');
    this._chosen = chosen;
    this._element(chosen)?.classList.add('chosen');
  }

  /** @param {number} span */
  reveal(span) {
    this._element(span)?.scrollIntoView({ block: 'nearest' });
  }

  /** The number of the span that an element shows; null: none. @param {EventTarget | null} target */
  spanAt(target) {
    const number = target instanceof HTMLElement ? this._elements.indexOf(target) : -1;
    return number < 0 ? null : number + this._hidden;
  }

  _write() {
    const from = this._elements.length + this._hidden;
    const stop = Math.min(from + AT_ONCE, this._spans.length);
    for (let i = from; i < stop; i++) this._add(this._spans[i]);
    if (this._asked || stop === this._spans.length) return;
    this._asked = true;
    this._frame(() => {
      this._asked = false;
      if (this._place.isConnected) this._write();
    });
  }

  /** @param {Span} span */
  _add({ text, kind }) {
    const element = document.createElement('span');
    element.textContent = text;
    element.className = kind;
    if (/^\s*\n\s*$/.test(text)) element.classList.add('break');
    this._lineFor(text).append(element);
    if (text.endsWith('\n')) this._line = null;
    this._elements.push(element);
    this._levels.push(NO_LEVEL);
    this._level(this._elements.length - 1);
    if (this._elements.length - 1 + this._hidden === this._chosen) element.classList.add('chosen');
  }

  /** What is added later lays out only the last line. @param {string} text */
  _lineFor(text) {
    if (this._line && this._line.childElementCount >= MOST_IN_LINE && /^\s/.test(text)) this._line = null;
    this._line ??= this._place.appendChild(document.createElement('div'));
    return this._line;
  }

  /** @param {number} i of an element */
  _level(i) {
    const span = this._spans[i + this._hidden];
    const shares = this._shares;
    const plain = span.kind === 'template' || span.kind === 'control';
    const level = shares && !plain ? levelOf(shares.spans[i + this._hidden] ?? 0, shares.strongest) : 0;
    if (level === this._levels[i]) return;
    this._levels[i] = level;
    this._elements[i].dataset.level = String(level);
  }

  /** @param {number | null} span */
  _element(span) {
    return span === null ? undefined : this._elements[span - this._hidden];
  }
}
