// Texts as the rules of redaction look at them (docs/redaction.md, "Folding").
import { RULES } from './rules.js';

// One unit for each character, so that what lies beyond the first plane, which no rule looks at, stands as this.
const BEYOND = '\ufffd';
const KINDS = ['nothing', 'space', 'line', 'dash', 'apostrophe', 'dot', 'slash'];
const INTO = ['', ' ', '\n', '-', "'", '.', '/'];
const LAST_MARK = 0x36f;
const FIRST_MARK = 0x300;
const LATIN = 0x180;

/** By code unit: what it becomes. Filled as units are met. @type {Map<number, string>} */
const known = new Map();
/** What units below LATIN become; undefined: more than one character. @type {(string | undefined)[]} */
const latin = Array.from({ length: LATIN }, (_, code) => {
  const folded = foldedCluster(String.fromCharCode(code));
  return folded.length === 1 ? folded : undefined;
});

/** What of them becomes something else. */
const CHANGED = new RegExp(`[${latin.map((own, code) => (own === String.fromCharCode(code) ? '' : unicode(code))).join('')}]`, 'g');

/** A folded text, whose characters know the ranges of the text that they stand for. */
export class Folded {
  /** @param {string} text folded @param {Uint32Array | null} starts in UTF-16 units; null: every character is its own unit
   * @param {Uint32Array | null} ends exclusive */
  constructor(text, starts, ends) {
    this.text = text;
    this._starts = starts;
    this._ends = ends;
    /** @type {string | null} */
    this._lower = null;
  }

  /** In small letters, character by character. */
  get lower() {
    this._lower ??= lowered(this.text);
    return this._lower;
  }

  /** The same with a # for each character in one of these ranges. @param {readonly {start: number, end: number}[]} ranges */
  without(ranges) {
    const letters = this.text.split('');
    for (const { start, end } of ranges) letters.fill('#', start, end);
    return new Folded(letters.join(''), this._starts, this._ends);
  }

  /** The range of the text that folded characters stand for. @param {number} from @param {number} to exclusive, behind `from` */
  range(from, to) {
    return { from: this._starts?.[from] ?? from, to: this._ends?.[to - 1] ?? to };
  }
}

/** @param {string} text @returns {Folded} */
export function folded(text) {
  if (isPlain(text)) return new Folded(plainOf(text), null, null);
  const [starts, ends] = [new GrowingList(text.length), new GrowingList(text.length)];
  let made = '';
  for (let at = 0; at < text.length; ) {
    const end = endOfCluster(text, at);
    const own = end === at + 1 ? single(text, at) : foldedCluster(text.slice(at, end));
    for (let i = 0; i < own.length; i++) {
      starts.push(at);
      ends.push(end);
    }
    made += own;
    at = end;
  }
  return new Folded(made, starts.all, ends.all);
}

/** Small letters, where they are as long. @param {string} text */
export function lowered(text) {
  const whole = text.toLowerCase();
  // A final sigma is the only letter that goes by its neighbours.
  if (whole.length === text.length && !text.includes('Σ')) return whole;
  return Array.from(text, (letter) => sameLength(letter, letter.toLowerCase())).join('');
}

/** Capitals, where they are as long. @param {string} text */
export function raised(text) {
  const whole = text.toUpperCase();
  if (whole.length === text.length) return whole;
  return Array.from(text, (letter) => sameLength(letter, letter.toUpperCase())).join('');
}

/** @param {string} letter @param {string} other */
function sameLength(letter, other) {
  return other.length === letter.length ? other : letter;
}

/** Whether all of a text lies below LATIN, and each character folds to one. @param {string} text */
function isPlain(text) {
  for (let at = 0; at < text.length; at++) if (latin[text.charCodeAt(at)] === undefined) return false;
  return true;
}

/** @param {string} text that is plain */
function plainOf(text) {
  return text.replace(CHANGED, (letter) => latin[letter.charCodeAt(0)] ?? letter);
}

/** @param {string} text @param {number} at */
function single(text, at) {
  const code = text.charCodeAt(at);
  if (code < LATIN && latin[code] !== undefined) return /** @type {string} */ (latin[code]);
  let own = known.get(code);
  if (own === undefined) known.set(code, (own = foldedCluster(text[at])));
  return own;
}

/** @param {number} code */
function unicode(code) {
  return `\\u${code.toString(16).padStart(4, '0')}`;
}

/** @param {string} text @param {number} at @returns {number} */
function endOfCluster(text, at) {
  let end = at + 1;
  const code = text.charCodeAt(at);
  if (code >= 0xd800 && code <= 0xdbff && end < text.length && (text.charCodeAt(end) & 0xfc00) === 0xdc00) end += 1;
  while (end < text.length && text.charCodeAt(end) >= FIRST_MARK && text.charCodeAt(end) <= LAST_MARK) end += 1;
  return end;
}

/** @param {string} cluster */
function foldedCluster(cluster) {
  let made = '';
  for (const letter of cluster.normalize('NFKC')) made += foldedLetter(letter);
  return made;
}

/** @param {string} letter */
function foldedLetter(letter) {
  const code = /** @type {number} */ (letter.codePointAt(0));
  for (let i = 0; i < KINDS.length; i++) {
    const ranges = /** @type {number[][]} */ (/** @type {any} */ (RULES)[KINDS[i]]);
    if (ranges.some(([first, last]) => code >= first && code <= last)) return INTO[i];
  }
  const zero = RULES.zeros.find((first) => code >= first && code <= first + 9);
  if (zero !== undefined) return String(code - zero);
  return letter.length === 1 ? letter : BEYOND;
}

/** Numbers of which nobody knows yet how many there are. */
class GrowingList {
  /** @param {number} likely */
  constructor(likely) {
    this._room = new Uint32Array(likely + 16);
    this.length = 0;
  }

  /** @param {number} value */
  push(value) {
    if (this.length === this._room.length) {
      const room = new Uint32Array(2 * this.length);
      room.set(this._room);
      this._room = room;
    }
    this._room[this.length++] = value;
  }

  get all() {
    return this._room.subarray(0, this.length);
  }
}
