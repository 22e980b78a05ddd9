// How often guesses were right, by what they hang on.

// Tokens of a class after which what was before counts for little.
const FADING = 1 - 1 / 64;
// In place of a class: of the tokens behind a right one.
const LATER = -1;

/** 0, 1, 2 (to 3 tokens), 4 (to 7), 8 (to 15) or 16: lengths that are counted together. @param {number} match */
export function matchClass(match) {
  let size = match < 1 ? 0 : 1;
  while (size && size < 16 && match >= 2 * size) size *= 2;
  return size;
}

/**
 * Of the tokens of drafts by source and class of match, as one right and one wrong before any was seen: the first
 * ones, and those behind a right one, which are right more often.
 */
export class Acceptance {
  constructor() {
    /** @type {Map<string, {hits: number, misses: number}>} */
    this._seen = new Map();
  }

  /**
   * `right` tokens of a draft were chosen, and the next one was `wrong`, or not seen.
   * @param {string} source @param {number} match @param {number} right @param {boolean} wrong
   */
  saw(source, match, right, wrong) {
    for (let at = 0; at < right + Number(wrong); at++) {
      const name = nameOf(source, at === 0 ? matchClass(match) : LATER);
      const { hits, misses } = this._seen.get(name) ?? { hits: 0, misses: 0 };
      const hit = at < right ? 1 : 0;
      this._seen.set(name, { hits: hits * FADING + hit, misses: misses * FADING + (1 - hit) });
    }
  }

  /** The share of first tokens that are expected to be right. @param {string} source @param {number} match */
  first(source, match) {
    return this._share(nameOf(source, matchClass(match)));
  }

  /** The share of further tokens, each after right ones, whatever the match was. @param {string} source */
  later(source) {
    return this._share(nameOf(source, LATER));
  }

  /** @param {string} name */
  _share(name) {
    const { hits, misses } = this._seen.get(name) ?? { hits: 0, misses: 0 };
    return (hits + 1) / (hits + misses + 2);
  }
}

/** @param {string} source @param {number} size */
function nameOf(source, size) {
  return `${source}/${size}`;
}
