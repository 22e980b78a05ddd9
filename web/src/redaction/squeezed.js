// The letters and digits of a folded text alone, in which a number has one spelling.
import { RULES } from './rules.js';

export const MOST_GAP = 4;
const RUN = /[0-9A-Za-z]+/g;
const SOLID = /[0-9A-Za-z]/;
/** Characters that may stand within a number. @type {Readonly<Record<string, ReadonlySet<string>>>} */
const GAPS = { gap: setOf(RULES.gap), phone_gap: setOf(RULES.phone_gap) };

/** `characters`: ASCII letters, as capitals, and digits of `text`; number i stands at `at[i]`. */
export class Squeezed {
  /** @param {string} text folded */
  constructor(text) {
    this.text = text;
    const runs = [...text.matchAll(RUN)];
    const all = runs.map(([run]) => run).join('');
    this.characters = all.toUpperCase();
    this.at = new Uint32Array(all.length);
    let next = 0;
    for (const { 0: run, index } of runs) for (let i = 0; i < run.length; i++) this.at[next++] = index + i;
  }

  /**
   * First and last+1 of the characters where `wanted` is spelled, with gaps.
   * @param {string} wanted @param {ReadonlySet<string>} gap @returns {Generator<[number, number]>}
   */
  *occurrences(wanted, gap) {
    let found = this.characters.indexOf(wanted);
    for (; found >= 0; found = this.characters.indexOf(wanted, found + 1)) {
      const end = found + wanted.length;
      if (this.together(found, end, gap)) yield [found, end];
    }
  }

  /** Whether nothing but gaps stands between characters. @param {number} first @param {number} end @param {ReadonlySet<string>} gap */
  together(first, end, gap) {
    const { at, text } = this;
    if (at[end - 1] - at[first] === end - 1 - first) return true;
    for (let i = first; i < end - 1; i++) {
      if (at[i + 1] - at[i] > 1 && !isGap(text.slice(at[i] + 1, at[i + 1]), gap)) return false;
    }
    return true;
  }

  /** Whether an ASCII letter or digit stands directly before. @param {number} first */
  touches(first) {
    return isSolid(this.text, this.at[first] - 1);
  }

  /** Whether one stands directly behind the character before `end`. @param {number} end */
  goesOn(end) {
    return isSolid(this.text, this.at[end - 1] + 1);
  }

  /** Whether a digit stands directly behind the character before `end`. @param {number} end */
  precedesDigit(end) {
    return this.goesOn(end) && this.isDigit(end);
  }

  /** Whether a digit stands directly before. @param {number} first */
  followsDigit(first) {
    return this.touches(first) && this.isDigit(first - 1);
  }

  /** @param {number} at */
  isDigit(at) {
    return this.characters[at] >= '0' && this.characters[at] <= '9';
  }
}

/** At most four characters of those. @param {string} text @param {ReadonlySet<string>} gap */
export function isGap(text, gap) {
  if (text.length > MOST_GAP) return false;
  for (const letter of text) if (!gap.has(letter)) return false;
  return true;
}

/** Whether there is an ASCII letter or digit. @param {string} text @param {number} at */
export function isSolid(text, at) {
  return at >= 0 && at < text.length && SOLID.test(text[at]);
}

/** @param {string} kind */
export function gapOf(kind) {
  return kind === 'phone' ? GAPS.phone_gap : GAPS.gap;
}

/** @param {string} characters of a class in a pattern */
function setOf(characters) {
  return new Set(characters.replaceAll('\\', ''));
}
