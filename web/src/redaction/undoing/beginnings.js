// Where the end of a text may be the beginning of a surrogate.
import { folded } from '../folding.js';
import { numberOf } from '../kinds.js';
import { RULES, pattern } from '../rules.js';
import { gapOf, isGap } from '../squeezed.js';
import { Glance } from './glance.js';

/** @typedef {import('../finding/looked.js').Looked} Looked */
/** @typedef {import('../spotting.js').Spotter} Spotter */

// A date that is not whole, in small letters.
const SUFFIX = '(?:\\.|s|st|n|nd|r|rd|t|th)?';
const DATE = new RegExp(
  '(?<![0-9a-z])(?:' +
    '[0-9]{1,4}(?:[./\\-][0-9]{0,4}){0,2}' +
    `|[0-9]{1,2}${SUFFIX}[ \\n]{0,3}(?:of?[ \\n]{0,3})?[a-zä]{0,9}[.,]?[ \\n]{0,3}[0-9]{0,4}` +
    `|[a-zä]{1,9}\\.?[ \\n]{0,3}(?:[0-9]{1,2}${SUFFIX})?,?[ \\n]{0,3}[0-9]{0,4}` +
    ')$',
  'g',
);
// Months, and what stands behind a day.
const WORDS_OF_DATES = [...new Set([...RULES.months.flat(), 'st', 'nd', 'rd', 'th', 'of'])];
const LONGEST_DATE = 40;
const LONGEST_WORD = 100;
// What begins there is no part of a word or of a number.
const ALONE = new RegExp(`(?<![0-9${RULES.letter}])`, 'y');

/** Of the surrogates that a spotter looks for; those that it learns later belong to them. */
export class Beginnings {
  /** @param {Spotter} spotter */
  constructor(spotter) {
    this._spotter = spotter;
    /** @type {Set<string>} */
    this._numbers = new Set();
    /** @type {Set<string>} */
    this._texts = new Set();
    /** @type {Set<string>} */
    this._names = new Set();
    /** First letters of texts. @type {Set<string>} */
    this._firsts = new Set();
    this._glance = new Glance({});
    this._longestNumber = 0;
    this._longestText = 0;
    this._read = 0;
  }

  /** Folded characters from which one may have begun that is not whole yet. @param {Looked} looked @returns {number[]} */
  of(looked) {
    this._learn();
    const dates = this._spotter.dates.size ? this._ofDates(looked) : [];
    return [...this._ofNumbers(looked), ...this._ofTexts(looked), ...dates, ...this._ofNames(looked)];
  }

  /**
   * Where in a text the first of them is, or its end, seen at a glance; null: whole ones may be in it, so that it has to be
   * looked at.
   * @param {string} source @returns {number | null}
   */
  first(source) {
    this._learn();
    const own = folded(source);
    const at = this._glance.first(own.lower);
    if (at === null) return null;
    return at < own.text.length ? own.range(at, at + 1).from : source.length;
  }

  /** @param {Looked} looked */
  _ofNumbers({ squeezed, text }) {
    const { characters, at } = squeezed;
    const { length } = characters;
    const gap = gapOf('phone');
    /** @type {number[]} */
    const found = [];
    if (!length || !isGap(text.slice(at[length - 1] + 1), gap)) return found;
    for (let count = 1; count <= Math.min(this._longestNumber, length); count++) {
      const first = length - count;
      if (!squeezed.together(first, Math.min(first + 2, length), gap)) break;
      if (this._numbers.has(characters.slice(first))) found.push(at[first]);
    }
    return found;
  }

  /** @param {Looked} looked */
  _ofTexts({ lower }) {
    const found = [];
    // A space may be written as three.
    for (let start = Math.max(0, lower.length - 3 * this._longestText); start < lower.length; start++) {
      if (!this._firsts.has(lower[start])) continue;
      ALONE.lastIndex = start;
      if (ALONE.test(lower) && this._texts.has(lower.slice(start).replace(/[ \n]+/g, ' '))) found.push(start);
    }
    return found;
  }

  /** @param {Looked} looked */
  _ofDates({ lower }) {
    const found = [];
    DATE.lastIndex = Math.max(0, lower.length - LONGEST_DATE);
    for (let match; (match = DATE.exec(lower)); DATE.lastIndex = match.index + 1) {
      if ((match[0].match(/[a-zä]+/g) ?? []).every(mayBeOfDate)) found.push(match.index);
    }
    return found;
  }

  /** @param {Looked} looked */
  _ofNames({ lower }) {
    const end = lower.slice(-LONGEST_WORD);
    const word = pattern("[{letter}']+$").exec(end)?.[0].replace(/^'+/, '');
    if (!word) return [];
    const [base] = word.split("'", 1);
    const known = this._names.has(base) || this._spotter.names.has(base.endsWith('s') ? base.slice(0, -1) : base);
    return known ? [lower.length - word.length] : [];
  }

  _learn() {
    const { numbers, texts, names, dates, count } = this._spotter;
    if (count === this._read) return;
    this._read = count;
    const own = Array.from(numbers.values(), ({ kind, key }) => numberOf(kind, key));
    const keys = [...texts.keys()];
    this._longestNumber = Math.max(0, ...own.map(({ length }) => length));
    this._longestText = Math.max(0, ...keys.map(({ length }) => length));
    this._numbers = prefixesOf(own);
    this._texts = prefixesOf(keys);
    this._names = prefixesOf([...names.keys()]);
    this._firsts = new Set(keys.map((key) => key[0]));
    this._glance = new Glance({ names: [...names.keys()], texts: keys, numbers: own, words: dates.size ? WORDS_OF_DATES : [] });
  }
}

/** Whether it is a word of dates, or the beginning of one. @param {string} word */
function mayBeOfDate(word) {
  return WORDS_OF_DATES.some((each) => each.startsWith(word));
}

/** @param {string[]} texts */
function prefixesOf(texts) {
  return new Set(texts.flatMap((text) => Array.from(text, (_, i) => text.slice(0, i + 1))));
}
