// Names of people: those of the person's list, and those that titles and first names give away.
import { COMMON, FAMILY, GIVEN } from '../name_lists.js';
import { RULES } from '../rules.js';
import { Word, isGerman, isShortSpace, linked, wordsIn } from './words.js';

/** @typedef {import('./looked.js').Looked} Looked */
/** @typedef {'given' | 'family'} NameKind */
/** Keys of words that are names in a chat. @typedef {ReadonlyMap<string, NameKind>} KnownNames */

const MOST_WORDS = 5;
const MOST_ROUNDS = 4;
const TITLES = new Set(RULES.titles);
const PARTICLES = new Set(RULES.particles);
const NOT_NAMES = new Set(RULES.not_names);

/**
 * @param {Looked} looked @param {KnownNames} known @param {boolean} [onlyKnown] no others
 * @returns {Generator<import('../kinds.js').Found>}
 */
export function* foundNames(looked, known, onlyKnown = false) {
  if (onlyKnown && !known.size) return;
  const seen = new Map(known);
  let taken = new Reading(looked, seen, onlyKnown).read();
  // A name that is given away further on is one before, too.
  for (let round = 0; round < MOST_ROUNDS; round++) {
    const more = taken.filter(({ word }) => !seen.has(word.key));
    if (!more.length) break;
    for (const { word, kind } of more) seen.set(word.key, kind);
    taken = new Reading(looked, seen, onlyKnown).read();
  }
  for (const { word, kind } of taken) {
    yield looked.found(kind, word.key, word.start, word.end);
  }
}

/** The key by which a word, or it without an s at its end, is known; null: it is not. @param {Word} word @param {KnownNames} known */
function knownKey(word, known) {
  const found = [word.key, word.key.endsWith('s') ? word.key.slice(0, -1) : ''].find((key) => key.length > 1 && known.has(key));
  return found !== undefined && (word.capital || !COMMON.has(found)) ? found : null;
}

/** One text, from left to right. */
class Reading {
  /** @param {Looked} looked @param {KnownNames} known @param {boolean} onlyKnown */
  constructor(looked, known, onlyKnown) {
    this._text = looked.text;
    this._known = known;
    this._onlyKnown = onlyKnown;
    this._words = wordsIn(looked.text, looked.lower);
    this._german = isGerman(this._words);
    /** @type {Map<number, {word: Word, kind: NameKind}>} */
    this._taken = new Map();
  }

  read() {
    this._words.forEach((word, at) => this._taken.has(at) || this._at(at, word));
    return [...this._taken].sort(([a], [b]) => a - b).map(([, taken]) => taken);
  }

  /** @param {number} at @param {Word} word */
  _at(at, word) {
    const key = knownKey(word, this._known);
    if (key !== null) {
      const kind = /** @type {NameKind} */ (this._known.get(key));
      this._take(at, kind);
      if (kind === 'given' && !this._onlyKnown) this._sequence(at);
    } else if (!word.capital || this._onlyKnown) {
      return;
    } else if (TITLES.has(word.key)) {
      this._titled(at);
    } else if (this._begins(at, word)) {
      this._take(at, 'given');
      this._before(at);
      this._sequence(at);
    } else if (word.initial && this._text[word.end] === '.') {
      const following = this._following(at);
      if (following !== null && FAMILY.has(this._words[following].key)) this._take(following, 'family');
    }
  }

  /** Whether it is a first name, and no other word. @param {number} at @param {Word} word */
  _begins(at, word) {
    if (!isCandidate(word) || !GIVEN.has(word.key)) return false;
    if (!COMMON.has(word.key)) return true;
    const following = this._following(at);
    return following !== null && FAMILY.has(this._words[following].key);
  }

  /** @param {number} at */
  _titled(at) {
    const following = this._following(at);
    if (following === null || this._taken.has(following)) return;
    if (GIVEN.has(this._words[following].key) && this._following(following) !== null) {
      this._take(following, 'given');
      this._sequence(following);
    } else {
      this._take(following, 'family');
      this._tail(following);
    }
  }

  /** The surname in "Schmidt, Anna". @param {number} at */
  _before(at) {
    if (at === 0 || this._taken.has(at - 1)) return;
    const word = this._words[at - 1];
    const between = this._text.slice(word.end, Math.min(this._words[at].start, word.end + 5));
    const parted = between[0] === ',' && isShortSpace(between.slice(1));
    if (parted && isCandidate(word) && isPlainSurname(word)) this._take(at - 1, 'family');
  }

  /** What follows a first name. @param {number} at */
  _sequence(at) {
    for (let next = at + 1; next < Math.min(at + MOST_WORDS, this._words.length); next++) {
      const word = this._words[next];
      if (!linked(this._text, this._words[next - 1], word)) return;
      if (word.initial || (PARTICLES.has(word.key) && !word.capital)) continue;
      if (this._taken.has(next) || !this._belongs(next, word)) return;
      if (!this._isGiven(next, word)) {
        this._take(next, 'family');
        this._tail(next);
        return;
      }
      this._take(next, 'given');
    }
  }

  /** @param {number} at @param {Word} word that belongs to a sequence */
  _isGiven(at, word) {
    return GIVEN.has(word.key) && (!FAMILY.has(word.key) || this._following(at) !== null);
  }

  /** @param {number} at @param {Word} word */
  _belongs(at, word) {
    if (!isCandidate(word)) return false;
    return (
      !this._german ||
      this._hyphened(at) ||
      FAMILY.has(word.key) ||
      GIVEN.has(word.key) ||
      RULES.looks.some((end) => word.key.endsWith(end))
    );
  }

  /** More surnames behind one. @param {number} at */
  _tail(at) {
    for (let next = this._following(at); next !== null && !this._taken.has(next); next = this._following(next)) {
      if (!this._hyphened(next) && !isPlainSurname(this._words[next])) return;
      this._take(next, 'family');
    }
  }

  /** The candidate that is linked to a word. @param {number} at @returns {number | null} */
  _following(at) {
    const next = this._words[at + 1];
    return next && linked(this._text, this._words[at], next) && isCandidate(next) ? at + 1 : null;
  }

  /** @param {number} at */
  _hyphened(at) {
    const [before, word] = [this._words[at - 1], this._words[at]];
    return word.start - before.end === 1 && this._text[before.end] === '-';
  }

  /** @param {number} at @param {NameKind} kind */
  _take(at, kind) {
    let word = this._words[at];
    const key = knownKey(word, this._known);
    if (key !== null && key.length < word.key.length) {
      word = new Word(word.text.slice(0, key.length), key, word.start, word.start + key.length);
    }
    this._taken.set(at, { word, kind });
  }
}

/** @param {Word} word */
function isPlainSurname({ key }) {
  return FAMILY.has(key) && !COMMON.has(key);
}

/** @param {Word} word */
function isCandidate(word) {
  return word.key.length > 1 && word.capital && !NOT_NAMES.has(word.key) && !TITLES.has(word.key);
}
