// Whether a text has any part of a surrogate, seen by one pattern.
import { RULES } from '../rules.js';
import { MOST_GAP } from '../squeezed.js';

/** Branches by their first character; '' ends one. @typedef {Map<string, Tree>} Tree */
/** Surrogates as they are looked for; `words` of dates, none if no date is. @typedef {{names: string[], texts: string[], numbers: string[], words: string[]}} Wanted */

// Characters of a surrogate from which on it is looked at closely: few texts have so many of one by chance.
const DEPTH = 5;
const GAP = `[${RULES.phone_gap}]{0,${MOST_GAP}}`;
// Behind the first letter: what begins there is no part of a word.
const FIRST = `(?<![${RULES.letter}].)`;
const ALONE = `(?<![0-9${RULES.letter}].)`;
const QUOTED = new RegExp(`'[${RULES.letter}']*$`);

export class Glance {
  /** @param {Partial<Wanted>} wanted */
  constructor({ names = [], texts = [], numbers = [], words = [] }) {
    const named = treeOf(names.map((name) => name.slice(0, DEPTH)));
    const written = treeOf(texts.map((text) => text.split(' ', 1)[0].slice(0, DEPTH)));
    const counted = treeOf(numbers.map((number) => number.slice(0, DEPTH).toLowerCase()));
    const dated = treeOf(words.map((word) => word.slice(0, 3)));
    const whole = [...wholes(named, FIRST), ...wholes(written, ALONE), ...wholes(counted, '', GAP)];
    const begun = [...begins(named, FIRST), ...begins(written, ALONE), ...begins(counted, '', GAP)];
    if (dated.size) whole.push('[0-9]', ...wholes(dated, FIRST), ...begins(dated, FIRST));
    this._search = whole.length ? new RegExp(`(?:${whole.join('|')})()|(?:${[...begun, ...whole].join('|')})`) : null;
  }

  /**
   * Where a surrogate may have begun that is not whole yet; the length if none has. Null: a surrogate may be there, or a name
   * behind a `'`; one has to look.
   * @param {string} lowered folded, in small letters @returns {number | null}
   */
  first(lowered) {
    const match = this._search?.exec(lowered);
    if (lowered.includes("'") && QUOTED.test(lowered)) return null;
    if (!match) return lowered.length;
    return match[1] === undefined ? match.index : null;
  }
}

/** @param {string[]} keys @returns {Tree} */
function treeOf(keys) {
  /** @type {Tree} */
  const tree = new Map();
  for (const key of keys) {
    let at = tree;
    for (const character of [...key, '']) {
      const below = at.get(character) ?? new Map();
      at.set(character, below);
      at = below;
    }
  }
  return tree;
}

/** A pattern for each first character; `first` holds behind it. @param {Tree} tree @param {string} first @param {string} [gap] @returns {string[]} */
function wholes(tree, first, gap = '') {
  // What begins with a whole one needs no look at the rest.
  return branches(tree).map(([character, below]) => {
    return `${escaped(character)}${first}${below.has('') ? '' : `${gap}(?:${wholes(below, '', gap).join('|')})`}`;
  });
}

/** The same for a text that ends before they are whole. @param {Tree} tree @param {string} first @param {string} [gap] @returns {string[]} */
function begins(tree, first, gap = '') {
  return branches(tree).map(([character, below]) => {
    const rest = below.has('') ? [] : begins(below, '', gap);
    return `${escaped(character)}${first}${gap}(?:${['$', ...rest].join('|')})`;
  });
}

/** @param {Tree} tree */
function branches(tree) {
  return [...tree].filter(([character]) => character);
}

/** @param {string} text */
function escaped(text) {
  return text.replace(/[.*+?^${}()|[\]\\/-]/g, '\\$&');
}
