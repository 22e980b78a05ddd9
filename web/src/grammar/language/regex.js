// Regular expressions in the common part of ECMAScript's and Rust's syntax; what is outside of it is refused by name.
import { FormInvalid } from '../errors.js';
import { MAX_COUNT, MAX_GROUPS, MAX_PATTERN } from '../limits.js';
import { others, tidy } from './characters.js';
import { ANY, escapedClass, escapedCode, isClassEscape } from './regex_escapes.js';

/** @typedef {import('./expressions.js').Expression} Expression */
/** @typedef {import('./characters.js').Range} Range */
/** @typedef {{of: Expression, begins: boolean, ends: boolean}} Branch whether it has ^ and $ */

/**
 * The texts that match as a whole.
 * @param {import('./expressions.js').Expressions} expressions @param {string} pattern
 * @param {import('./characters.js').Writing} write
 * @returns {Expression} throws FormInvalid
 */
export function wholeMatch(expressions, pattern, write) {
  return expressions.alt(new RegexReader(expressions, pattern, write).read().map(({ of }) => of));
}

/**
 * The texts that match somewhere, as JSON schema's `pattern` does.
 * @param {import('./expressions.js').Expressions} expressions @param {string} pattern
 * @param {import('./characters.js').Writing} write
 * @returns {Expression} throws FormInvalid
 */
export function anyMatch(expressions, pattern, write) {
  const free = expressions.repeat(write(ANY));
  const branches = new RegexReader(expressions, pattern, write).read();
  return expressions.alt(branches.map(({ of, begins, ends }) =>
    expressions.cat(begins ? expressions.empty : free, of, ends ? expressions.empty : free)));
}

class RegexReader {
  /**
   * @param {import('./expressions.js').Expressions} expressions @param {string} pattern
   * @param {import('./characters.js').Writing} write
   */
  constructor(expressions, pattern, write) {
    if (pattern.length > MAX_PATTERN) throw refused(`a pattern of more than ${MAX_PATTERN} characters`);
    this._expressions = expressions;
    this._write = write;
    this._units = [...pattern];
    this._at = 0;
    this._depth = 0;
  }

  /** @returns {Branch[]} */
  read() {
    const branches = this._branches();
    if (this._at < this._units.length) throw refused("a ')' without its '('");
    return branches;
  }

  get _next() {
    return this._units[this._at] ?? '';
  }

  /** @param {string} text */
  _take(text) {
    const found = this._units.slice(this._at, this._at + text.length).join('') === text;
    if (found) this._at += text.length;
    return found;
  }

  _branches() {
    const branches = [this._branch()];
    while (this._take('|')) branches.push(this._branch());
    return branches;
  }

  /** @returns {Branch} */
  _branch() {
    const begins = this._take('^');
    const parts = [];
    let ends = false;
    while (this._next && this._next !== '|' && this._next !== ')') {
      if (this._take('$')) {
        ends = true;
        if (this._next && this._next !== '|' && this._next !== ')') throw refused("'$' before the end of a pattern");
      } else if (this._next === '^') throw refused("'^' after the beginning of a pattern");
      else parts.push(this._repeated(this._atom()));
    }
    return { of: this._expressions.cat(...parts), begins, ends };
  }

  /** @param {Expression} atom */
  _repeated(atom) {
    const bounds = this._bounds();
    if (!bounds) return atom;
    // A lazy one matches the same texts.
    this._take('?');
    if ('*+?{'.includes(this._next || ' ')) throw refused('a repeat of a repeat');
    return this._expressions.repeat(atom, ...bounds);
  }

  /** @returns {[number, number] | null} */
  _bounds() {
    if (this._take('*')) return [0, Infinity];
    if (this._take('+')) return [1, Infinity];
    if (this._take('?')) return [0, 1];
    if (this._next !== '{') return null;
    const end = this._units.indexOf('}', this._at);
    const found = /^\{(\d+)(,(\d*))?$/.exec(this._units.slice(this._at, end === -1 ? this._at : end).join(''));
    if (!found) throw refused("a '{' that is no repeat; write \\{");
    const min = Number(found[1]);
    const max = found[2] === undefined ? min : found[3] ? Number(found[3]) : Infinity;
    if (min > max) throw refused('a repeat whose bounds are the wrong way round');
    if (min > MAX_COUNT || (max > MAX_COUNT && max < Infinity)) throw refused(`a repeat above ${MAX_COUNT}`);
    this._at = end + 1;
    return [min, max];
  }

  /** @returns {Expression} */
  _atom() {
    const unit = this._next;
    if ('*+?{'.includes(unit)) throw refused(`'${unit}' with nothing to repeat`);
    if (unit === '(') return this._group();
    if (unit === '[') return this._write(this._class());
    this._at += 1;
    if (unit === '.') return this._write(DOT);
    if (unit !== '\\') return this._write([codes(unit)]);
    return this._write(this._escape());
  }

  _group() {
    this._at += 1;
    if (this._take('?')) {
      const kind = this._units.slice(this._at, this._at + 2).join('');
      if (/^[=!]|^<[=!]/.test(kind)) throw refused('look-around');
      if (!this._take(':') && !this._named()) throw refused('a group with flags');
    }
    if (++this._depth > MAX_GROUPS) throw refused(`groups nested deeper than ${MAX_GROUPS}`);
    const branches = this._branches();
    this._depth -= 1;
    if (!this._take(')')) throw refused("a '(' without its ')'");
    if (branches.some(({ begins, ends }) => begins || ends)) throw refused("'^' or '$' within a group");
    return this._expressions.alt(branches.map(({ of }) => of));
  }

  _named() {
    const found = /^P?<[A-Za-z_]\w*>/.exec(this._units.slice(this._at, this._at + 80).join(''));
    this._at += found?.[0].length ?? 0;
    return found !== null;
  }

  /** @returns {Range[]} */
  _class() {
    this._at += 1;
    const inverted = this._take('^');
    /** @type {Range[]} */
    const ranges = [];
    for (let first = true; first || this._next !== ']'; first = false) {
      if (!this._next) throw refused("a '[' without its ']'");
      if (first && this._next === ']') throw refused("an empty '[]'");
      if (this._next === '[' || this._take('&&')) throw refused("'[' or '&&' within '[]'; write \\[");
      ranges.push(...this._member());
    }
    this._at += 1;
    return inverted ? others(ranges) : tidy(ranges);
  }

  /** One character, a range of them or a class. @returns {Range[]} */
  _member() {
    const low = this._one();
    if (this._next !== '-' || this._units[this._at + 1] === ']') return low;
    this._at += 1;
    const high = this._one();
    if (!isOne(low) || !isOne(high) || low[0][0] > high[0][0]) throw refused("a range within '[]' that is none");
    return [[low[0][0], high[0][0]]];
  }

  /** @returns {Range[]} */
  _one() {
    const unit = this._next;
    if (!unit) throw refused("a '[' without its ']'");
    this._at += 1;
    return unit === '\\' ? this._escape(true) : [codes(unit)];
  }

  /** @param {boolean} [inClass] @returns {Range[]} */
  _escape(inClass = false) {
    const rest = this._units.slice(this._at, this._at + 60).join('');
    if (isClassEscape(rest)) {
      const { ranges, length } = escapedClass(rest);
      this._at += length;
      return ranges;
    }
    const { code, length } = escapedCode(rest, inClass);
    this._at += length;
    return [[code, code]];
  }
}

const DOT = others([[10, 10], [13, 13], [0x2028, 0x2029]]);

/** @param {string} unit @returns {Range} */
function codes(unit) {
  const code = /** @type {number} */ (unit.codePointAt(0));
  return [code, code];
}

/** @param {Range[]} ranges */
function isOne(ranges) {
  return ranges.length === 1 && ranges[0][0] === ranges[0][1];
}

/** @param {string} what */
function refused(what) {
  return new FormInvalid(`a regex with ${what}`, { code: 'form_invalid' });
}
