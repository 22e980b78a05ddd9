// Strings of a schema, and names of properties.
import { FormTooCostly } from '../errors.js';
import { MAX_COUNT } from '../limits.js';
import { bytesOfText, inJson } from '../language/characters.js';
import { anyMatch, wholeMatch } from '../language/regex.js';
import { oneOfTexts } from '../language/texts.js';
import { ANY } from '../language/regex_escapes.js';
import { FORMATS } from './formats.js';

/** @typedef {import('../language/expressions.js').Expression} Expression */
/** @typedef {import('./keywords.js').Schema} Schema */

// Also escapes that are not needed; halves of pairs apart, as they are no characters.
const CHARACTER = '\\\\(?:["\\\\/bfnrt]|u(?:[0-9a-cA-CefEF][0-9a-fA-F]{3}|[dD][0-7][0-9a-fA-F]{2}))';

export class Strings {
  /** @param {import('../language/expressions.js').Expressions} expressions */
  constructor(expressions) {
    this._x = expressions;
    this._write = inJson(expressions);
    /** One of any kind, in the one way in which names are written. */
    this._plain = this._write(ANY);
    const raw = [...Array(128).keys()].map((code) => expressions.text(String.fromCharCode(code)));
    const escaped = wholeMatch(expressions, CHARACTER, (ranges) =>
      expressions.alt(raw.filter((_, code) => ranges.some(([low, high]) => low <= code && code <= high))));
    this._any = expressions.alt([this._plain, escaped]);
    this._quote = expressions.text('"');
  }

  /** @param {Schema} schema @param {string} path @returns {Expression} */
  value(schema, path) {
    const { minLength = 0, maxLength = Infinity, pattern, format } = schema;
    if (minLength > MAX_COUNT) throw new FormTooCostly(`minLength above ${MAX_COUNT}`);
    const limits = [pattern ?? []].flat().map((each) => this._matching(each, path));
    if (format !== undefined) limits.push(wholeMatch(this._x, FORMATS[format], this._write));
    if (!limits.length) return this._quoted(this._x.repeat(this._any, minLength, maxLength));
    if (minLength > 0 || maxLength < Infinity) limits.push(this._x.repeat(this._plain, minLength, maxLength));
    return this._quoted(limits.reduce((all, limit) => this._x.both(all, limit)));
  }

  /** @param {string} name @returns {Expression} */
  name(name) {
    return this._x.text(bytesOfText(JSON.stringify(name)));
  }

  /** Names that match. @param {string} pattern @param {string} path */
  namesLike(pattern, path) {
    return this._quoted(this._matching(pattern, path));
  }

  /**
   * Names that are none of `names` and match none of `patterns`.
   * @param {string[]} names @param {string[]} patterns @param {string} path
   */
  otherNames(names, patterns, path) {
    const x = this._x;
    const taken = names.map((name) => bytesOfText(JSON.stringify(name).slice(1, -1)));
    const without = [oneOfTexts(x, taken), ...patterns.map((pattern) => this._matching(pattern, path))];
    const free = x.repeat(this._plain);
    return this._quoted(without.reduce((all, part) => (part === x.never ? all : x.both(all, x.not(part))), free));
  }

  /** @param {string} pattern @param {string} _path */
  _matching(pattern, _path) {
    return anyMatch(this._x, pattern, this._write);
  }

  /** @param {Expression} inside */
  _quoted(inside) {
    return this._x.cat(this._quote, inside, this._quote);
  }
}
