// Regular expressions of pre-tokenizers (Oniguruma's Ruby syntax) as JavaScript's.
//
// A parser of the subset that tokenizers use. Every class becomes explicit ranges of one Unicode
// version, so that no browser's own tables matter. Whatever is not known to be exact is refused.
import { TokenizerInvalid } from '../errors.js';
import { category, classSource, complement, union, WHITE_SPACE } from '../unicode/code_points.js';

/** @typedef {import('../unicode/code_points.js').Range} Range */
/**
 * @typedef {{source: string, least: number, repeats: boolean}} Node least: of characters matched
 */

const MAX_PATTERN = 4096;
const MAX_DEPTH = 8;
const QUANTIFIER = /^(?:[?*+]|\{\d{1,3}(?:,\d{0,3})?\})/;
// Case folding joins these letters with one character (a ligature, a sharp s).
const FOLDED_TOGETHER = /ss|st|f[fil]/i;
/** @type {Record<string, number>} */
const CONTROL = { t: 9, n: 10, v: 11, f: 12, r: 13 };

/**
 * @param {string} pattern
 * @returns {RegExp} with the flags g and u; it never matches the empty text
 * @throws {TokenizerInvalid}
 */
export function splitPattern(pattern) {
  if (pattern.length > MAX_PATTERN) throw refused('a pattern is too long');
  const parser = new Parser(pattern);
  const node = parser.alternatives(false, 0);
  if (!parser.atEnd()) throw refused('a parenthesis of a pattern has no partner');
  if (node.least === 0) throw refused('a pattern matches the empty text');
  return new RegExp(node.source, 'gu');
}

class Parser {
  /** @param {string} text */
  constructor(text) {
    this.text = text;
    this.at = 0;
    this.groups = 0;
  }

  atEnd() {
    return this.at >= this.text.length;
  }

  /** @param {boolean} fold @param {number} depth @returns {Node} */
  alternatives(fold, depth) {
    if (depth > MAX_DEPTH) throw refused('a pattern is nested too deeply');
    const branches = [this.sequence(fold, depth)];
    while (this.take('|')) branches.push(this.sequence(fold, depth));
    return {
      source: branches.map((branch) => branch.source).join('|'),
      least: Math.min(...branches.map((branch) => branch.least)),
      repeats: branches.some((branch) => branch.repeats),
    };
  }

  /** @param {boolean} fold @param {number} depth @returns {Node} */
  sequence(fold, depth) {
    const whole = { source: '', least: 0, repeats: false };
    const start = this.at;
    while (!this.atEnd() && !'|)'.includes(this.text[this.at])) {
      const piece = this.quantified(fold, depth);
      whole.source += piece.source;
      whole.least += piece.least;
      whole.repeats ||= piece.repeats;
    }
    if (fold && FOLDED_TOGETHER.test(this.text.slice(start, this.at))) {
      throw refused('letters that fold together in a pattern without case');
    }
    return whole;
  }

  /** @param {boolean} fold @param {number} depth @returns {Node} */
  quantified(fold, depth) {
    const atom = this.text[this.at] === '(' ? this.group(fold, depth) : this.single(fold);
    const quantifier = QUANTIFIER.exec(this.text.slice(this.at))?.[0];
    if (!quantifier) return atom;
    if (atom.least === 0) throw refused('something empty is repeated in a pattern');
    if (atom.repeats && quantifier !== '?') throw refused('a repetition within a repetition in a pattern');
    this.at += quantifier.length;
    return this.repeated(atom, quantifier);
  }

  /** @param {Node} atom @param {string} quantifier @returns {Node} */
  repeated(atom, quantifier) {
    const braces = quantifier[0] === '{';
    const least = atom.least * (braces ? Number(/\d+/.exec(quantifier)?.[0]) : quantifier === '+' ? 1 : 0);
    const node = { source: atom.source + quantifier, least, repeats: true };
    if (braces && '?+*{'.includes(this.text[this.at] ?? '|')) throw refused('a repetition of a repetition');
    if (this.take('?')) return { ...node, source: `${node.source}?` };
    if (this.take('+')) return this.possessive(node);
    if (QUANTIFIER.test(this.text.slice(this.at))) throw refused('a repetition of a repetition');
    return node;
  }

  /**
   * JavaScript has no x++: a lookahead never gives back what it matched.
   * @param {Node} node
   * @returns {Node}
   */
  possessive(node) {
    this.groups += 1;
    return { ...node, source: `(?=(${node.source}))(?:\\${this.groups})` };
  }

  /** @param {boolean} fold @param {number} depth @returns {Node} */
  group(fold, depth) {
    const opening = /^\((?:\?(?::|=|!|i:))?/.exec(this.text.slice(this.at))?.[0] ?? '(';
    this.at += opening.length;
    if (opening === '(' && '?*'.includes(this.text[this.at] ?? ''))
      throw refused('a kind of group in a pattern');
    const inner = this.alternatives(fold || opening === '(?i:', depth + 1);
    if (!this.take(')')) throw refused('a group of a pattern is not closed');
    const looks = opening === '(?=' || opening === '(?!';
    return { ...inner, source: `${looks ? opening : '(?:'}${inner.source})`, least: looks ? 0 : inner.least };
  }

  /** One character or class. @param {boolean} fold @returns {Node} */
  single(fold) {
    return { source: classSource(this.set(fold)), least: 1, repeats: false };
  }

  /** @param {boolean} fold @returns {Range[]} */
  set(fold) {
    if (this.take('[')) return this.bracket(fold);
    if (this.take('.')) return complement([[10, 10]]);
    if ('^$?*+{})]'.includes(this.text[this.at])) throw refused(`'${this.text[this.at]}' in a pattern`);
    return withCases(this.member(), fold);
  }

  /** After '['. @param {boolean} fold @returns {Range[]} */
  bracket(fold) {
    const negated = this.take('^');
    if (this.text[this.at] === ']') throw refused('an empty class in a pattern');
    const sets = [];
    while (!this.take(']')) {
      if (this.atEnd()) throw refused('a class of a pattern is not closed');
      if (this.text[this.at] === '[' || this.text.startsWith('&&', this.at)) {
        throw refused('a class within a class in a pattern');
      }
      sets.push(this.range());
    }
    const set = withCases(union(sets), fold);
    return negated ? complement(set) : set;
  }

  /** 'a', 'a-z' or '\p{L}' in a class. @returns {Range[]} */
  range() {
    const low = this.member();
    const dash = this.text[this.at] === '-' && this.text[this.at + 1] !== ']';
    if (!dash) return low;
    this.at += 1;
    const high = this.member();
    const [[first, one], [other, last]] = [low[0], high[0]];
    if (low.length + high.length > 2 || first !== one || other !== last || first > last) {
      throw refused('a range of a pattern');
    }
    return [[first, last]];
  }

  /** @returns {Range[]} */
  member() {
    if (this.take('\\')) return this.escape();
    const code = this.text.codePointAt(this.at);
    if (code === undefined) throw refused('a pattern ends too early');
    this.at += String.fromCodePoint(code).length;
    return [[code, code]];
  }

  /** After a backslash. @returns {Range[]} */
  escape() {
    const rest = this.text.slice(this.at);
    const [all, kind, name] = /^([pP])\{(\^?\w+)\}/.exec(rest) ?? [];
    if (all) return this.property(all, kind === 'P', name);
    const hexadecimal = /^(?:x\{([0-9a-fA-F]{1,6})\}|x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4}))/.exec(rest);
    if (hexadecimal) return this.hexadecimal(hexadecimal);
    const letter = rest[0] ?? '';
    this.at += 1;
    if (letter in CONTROL) return [[CONTROL[letter], CONTROL[letter]]];
    if (letter === 's') return WHITE_SPACE;
    if (letter === 'S') return complement(WHITE_SPACE);
    if (letter === 'd') return category('Nd') ?? [];
    if (letter === 'D') return complement(category('Nd') ?? []);
    if (!/^[!-/:-@[-`{-~ ]$/.test(letter)) throw refused(`'\\${letter}' in a pattern`);
    const code = letter.charCodeAt(0);
    return [[code, code]];
  }

  /** @param {RegExpExecArray} match @returns {Range[]} */
  hexadecimal(match) {
    this.at += match[0].length;
    const code = parseInt(match[1] ?? match[2] ?? match[3], 16);
    if (code > 0x10ffff || (code >= 0xd800 && code < 0xe000)) throw refused('a code in a pattern');
    return [[code, code]];
  }

  /** @param {string} all @param {boolean} negated @param {string} name @returns {Range[]} */
  property(all, negated, name) {
    this.at += all.length;
    const inverted = name[0] === '^';
    const ranges = category(inverted ? name.slice(1) : name);
    if (!ranges) throw refused(`the property '${name}' in a pattern`);
    return negated !== inverted ? complement(ranges) : ranges;
  }

  /** @param {string} expected */
  take(expected) {
    if (!this.text.startsWith(expected, this.at)) return false;
    this.at += expected.length;
    return true;
  }
}

/** With the other case of ASCII letters; others are refused. @param {Range[]} set @param {boolean} fold */
function withCases(set, fold) {
  if (!fold) return set;
  /** @type {Range[]} */
  const added = [];
  for (const [low, high] of set) {
    if (high > 0x7f) throw refused('a pattern without case beyond ASCII');
    for (let code = low; code <= high; code += 1) {
      const letter = String.fromCharCode(code);
      for (const other of [letter.toLowerCase(), letter.toUpperCase()]) {
        added.push([other.charCodeAt(0), other.charCodeAt(0)]);
      }
      // Unicode's simple case folding: the long s and the sign of Kelvin.
      if (/s/i.test(letter)) added.push([0x17f, 0x17f]);
      if (/k/i.test(letter)) added.push([0x212a, 0x212a]);
    }
  }
  return union([set, added]);
}

/** @param {string} what */
function refused(what) {
  return new TokenizerInvalid(`${what} is not supported here`);
}
