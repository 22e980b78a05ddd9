// Words of a folded text, and which of them stand together.
import { RULES, pattern } from '../rules.js';

const TITLES = new Set(RULES.titles);
const GERMAN = new Set(RULES.german);

/** `key`: in small letters. */
export class Word {
  /** @param {string} text @param {string} key @param {number} start @param {number} end */
  constructor(text, key, start, end) {
    this.text = text;
    this.key = key;
    this.start = start;
    this.end = end;
  }

  /** Whether its first letter is one. */
  get capital() {
    return this.text[0] !== this.key[0];
  }

  /** Whether it is a single capital ASCII letter. */
  get initial() {
    return this.text.length === 1 && this.text >= 'A' && this.text <= 'Z';
  }
}

/** @param {string} text folded @param {string} lower it in small letters @returns {Word[]} */
export function wordsIn(text, lower) {
  const found = [];
  for (const { 0: whole, index: start } of text.matchAll(pattern("[{letter}]+(?:'[{letter}]+)*", 'g'))) {
    let end = start + whole.length;
    if (whole.length > 2 && lower.endsWith("'s", end)) end -= 2;
    found.push(new Word(text.slice(start, end), lower.slice(start, end), start, end));
  }
  return found;
}

/** Whether two small words are: then every noun has a capital, and it tells nothing. @param {Word[]} found */
export function isGerman(found) {
  let count = 0;
  for (const { key, text } of found) {
    if (GERMAN.has(key) && text === key && ++count > 1) return true;
  }
  return false;
}

/** Whether `second` follows `first` as the next word of a name does. @param {string} text @param {Word} first @param {Word} second */
export function linked(text, first, second) {
  if (second.start - first.end > 4) return false;
  let between = text.slice(first.end, second.start);
  if (between.startsWith('.') && (first.initial || TITLES.has(first.key))) between = between.slice(1);
  return between === '-' || isShortSpace(between);
}

/** One to three spaces or line feeds. @param {string} text */
export function isShortSpace(text) {
  return /^[ \n]{1,3}$/.test(text);
}
