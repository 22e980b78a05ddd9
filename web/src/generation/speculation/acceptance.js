// How often guesses were right, by what they hang on.

// Tokens of a class after which what was before counts for little.
const FADING = 1 - 1 / 64;

/** 0, 1, 2 (to 3 tokens), 4 (to 7), 8 (to 15) or 16: lengths that are counted together. @param {number} match */
export function matchClass(match) {
  let size = match < 1 ? 0 : 1;
  while (size && size < 16 && match >= 2 * size) size *= 2;
  return size;
}

/** Of the tokens of drafts by source and class of match, as one right and one wrong before any was seen. */
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
    const name = nameOf(source, match);
    let { hits, misses } = this._seen.get(name) ?? { hits: 0, misses: 0 };
    for (let i = 0; i < right; i++) [hits, misses] = [hits * FADING + 1, misses * FADING];
    if (wrong) [hits, misses] = [hits * FADING, misses * FADING + 1];
    this._seen.set(name, { hits, misses });
  }

  /** The share of tokens that are expected to be right, each after right ones. @param {string} source @param {number} match */
  of(source, match) {
    const { hits, misses } = this._seen.get(nameOf(source, match)) ?? { hits: 0, misses: 0 };
    return (hits + 1) / (hits + misses + 2);
  }
}

/** @param {string} source @param {number} match */
function nameOf(source, match) {
  return `${source}/${matchClass(match)}`;
}
