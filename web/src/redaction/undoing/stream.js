// A reply with its values back, while it is made.
import { Looked } from '../finding/looked.js';
import { NUMBERS } from '../kinds.js';
import { respelled } from '../spelling.js';
import { MOST_BEHIND, isSettled, makesAddress } from './addresses.js';
import { Beginnings } from './beginnings.js';
import { Protection } from './protected.js';
import { Shown } from './shown.js';

/** @typedef {import('../spotting.js').Spot} Spot */
/** @typedef {import('../spotting.js').Spotter} Spotter */
/** @typedef {import('../alignment.js').Piece} Piece */

// Characters at the end of a text in which a letter with its marks is looked for.
const MOST_MARKS = 64;
const MARKED = /[A-Za-z][\u0300-\u036f]*$/;
const LONGER_DOMAIN = /^(?:\.+[A-Za-z0-9]|[A-Za-z0-9-])/;

/**
 * `push` gives what is certain of the reply so far, `finish` the rest; in whatever pieces it comes, their texts together
 * are the same. `pieces`: which parts of what the model wrote stand for which of that.
 */
export class Undo {
  /**
   * @param {Spotter} spotter @param {readonly string[]} regions
   * @param {(value: string) => string} [spoken] makes of a value what is written, where the reply is no plain text
   * @param {Beginnings} [beginnings] of the spotter
   */
  constructor(spotter, regions, spoken = (value) => value, beginnings = new Beginnings(spotter)) {
    this._spoken = spoken;
    this._spotter = spotter;
    this._regions = regions;
    this._beginnings = beginnings;
    this._protection = new Protection();
    /** Of each unit that is pending whether it is protected. @type {boolean[]} */
    this._flags = [];
    this._shown = new Shown();
    this._pending = '';
    /** Units that were given away, of what the model wrote and of what became of it. */
    this._gone = 0;
    this._made = 0;
    /** @type {Piece[]} */
    this.pieces = [];
  }

  /** More of the reply. @param {string} text */
  push(text) {
    if (!text) return '';
    for (const flag of this._protection.flags(text)) this._flags.push(flag);
    this._pending += text;
    const left = this._shown.end;
    const first = this._beginnings.first(left + this._pending);
    if (first === null) return this._certain(false);
    const shown = this._emit(Math.max(0, first - left.length));
    this._made += shown.length;
    return shown;
  }

  /** It has come to its end. */
  finish() {
    return this._pending ? this._certain(true) : '';
  }

  /** @param {boolean} final */
  _certain(final) {
    const looked = new Looked(this._shown.end + this._pending, this._regions);
    const { source, folded } = looked;
    const left = this._shown.end.length;
    const spots = this._spotter.spots(looked).filter(({ start }) => folded.range(start, start + 1).from >= left);
    const end = final ? source.length : this._settled(looked, spots);
    let [made, at] = ['', left];
    for (const spot of spots) {
      const { from, to } = folded.range(spot.start, spot.end);
      if (from >= end) break;
      if (from < at || !this._isVisible(source, from, to, spot.known.kind)) continue;
      made += source.slice(at, from);
      const value = this._spoken(valueAt(spot, looked));
      const place = this._made + made.length;
      this.pieces.push({ from: this._gone + from - left, to: this._gone + to - left, at: place, end: place + value.length });
      made += value;
      at = to;
    }
    made += source.slice(at, end);
    this._emit(end - left);
    this._made += made.length;
    return made;
  }

  /** Units of the text of which nothing that may follow makes anything else. @param {Looked} looked @param {Spot[]} spots */
  _settled(looked, spots) {
    const { source, folded, text } = looked;
    const held = spots.filter(({ start, end }) => {
      return end === text.length || !isSettled(source.slice(folded.range(start, end).to));
    }).map(({ start }) => start);
    held.push(...this._beforeLetter(source));
    for (const begun of this._beginnings.of(looked)) {
      if (!spots.some(({ start, end }) => start < begun && begun < end)) held.push(begun);
    }
    if (!held.length) return source.length;
    const first = held.reduce((least, each) => Math.min(least, each));
    return Math.max(this._shown.end.length, folded.range(first, first + 1).from);
  }

  /** Surrogates that the last letter touches: a mark may follow, and make it another one. @param {string} source @returns {number[]} */
  _beforeLetter(source) {
    const letter = MARKED.exec(source.slice(-MOST_MARKS));
    if (!letter) return [];
    const before = new Looked(source.slice(0, source.length - letter[0].length), this._regions);
    return this._spotter.spots(before).filter(({ end }) => end === before.text.length).map(({ start }) => start);
  }

  /** @param {string} source @param {number} start @param {number} stop @param {string} kind */
  _isVisible(source, start, stop, kind) {
    const left = this._shown.end.length;
    if (this._flags.slice(start - left, stop - left).some(Boolean)) return false;
    const behind = source.slice(stop, stop + MOST_BEHIND + 1);
    // "…@example.org.evil.example" is a mailbox of somebody else.
    if (makesAddress(behind) || (kind === 'email' && LONGER_DOMAIN.test(behind))) return false;
    return !this._shown.leadsOn(source.slice(left, start));
  }

  /** @param {number} count */
  _emit(count) {
    if (!count) return '';
    const gone = this._pending.slice(0, count);
    this._pending = this._pending.slice(count);
    this._flags = this._flags.slice(count);
    this._shown.add(gone);
    this._gone += count;
    return gone;
  }
}

/** @param {Spot} spot @param {Looked} looked */
function valueAt({ known: { entry }, start, end, parts }, looked) {
  const { kind, key, value } = entry;
  const own = NUMBERS.has(kind) || kind === 'date' ? key : value;
  return respelled(kind, own, looked, start, end, parts);
}
