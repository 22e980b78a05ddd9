/** Places in a text as documents count them: in Unicode code points, not in UTF-16 units. */

const PAIRS = /[\ud800-\udbff][\udc00-\udfff]/;

/** A text that is cut at code points. */
export class CodePoints {
  /** @param {string} text without half characters */
  constructor(text) {
    this._text = text;
    /** Where each begins, and the end; null: each is one unit. @type {Uint32Array | null} */
    this._units = PAIRS.test(text) ? beginnings(text) : null;
  }

  /** How many there are. */
  get length() {
    return this._units === null ? this._text.length : this._units.length - 1;
  }

  /** @param {number} start @param {number} stop */
  slice(start, stop) {
    const units = this._units;
    return units === null ? this._text.slice(start, stop) : this._text.slice(units[start], units[stop]);
  }

  /** The code points before each of these UTF-16 units, which are in order. @param {number[]} units */
  before(units) {
    const begins = this._units;
    if (begins === null) return units;
    let at = 0;
    return units.map((unit) => {
      while (begins[at] < unit) at += 1;
      return at;
    });
  }
}

/** @param {string} text */
function beginnings(text) {
  const found = [];
  for (let at = 0; at < text.length; at += isPair(text, at) ? 2 : 1) found.push(at);
  return Uint32Array.from([...found, text.length]);
}

/** @param {string} text @param {number} at */
function isPair(text, at) {
  return Number(text.codePointAt(at)) > 0xffff;
}
