/**
 * Marked's lexer with bounds: containers within containers, emphasis within emphasis, and the work
 * that delimiters cost, which grows with their number times the length of the text around them.
 * What is beyond them is text. HTML is always text.
 */
import { Lexer, Tokenizer, getDefaults } from 'marked';

/** @typedef {import('marked').Token} Token */

const DEEPEST_BLOCK = 10;
const DEEPEST_INLINE = 10;
const LONGEST_LINE = 20_000;
const LONGEST_BLOCK = 200_000;
// Characters times delimiters: 4 million take some 10 ms.
const MOST_WORK = 4_000_000;
const DELIMITERS = /[[\]*_`~<!(:@\\]/g;

class TextTokenizer extends Tokenizer {
  /** @returns {undefined} */
  html() {}

  /** @returns {undefined} */
  tag() {}

  /** Targets elsewhere in the text would make blocks depend on each other. @returns {undefined} */
  def() {}
}

class BoundedLexer extends Lexer {
  blockDepth = 0;
  inlineDepth = 0;
  /** @param {number} work */
  constructor(work) {
    super({ ...getDefaults(), gfm: true, breaks: true, tokenizer: new TextTokenizer() });
    this.work = work;
  }

  /**
   * @override
   * @param {string} src @param {any} [tokens] @param {boolean} [lastParagraphClipped]
   * @returns {any}
   */
  blockTokens(src, tokens = [], lastParagraphClipped = false) {
    if (this.blockDepth >= DEEPEST_BLOCK || src.length > LONGEST_BLOCK) return asText(src, tokens);
    this.blockDepth += 1;
    try {
      return super.blockTokens(src, tokens, lastParagraphClipped);
    } finally {
      this.blockDepth -= 1;
    }
  }

  /** @override @param {string} src @param {Token[]} [tokens] @returns {Token[]} */
  inlineTokens(src, tokens = []) {
    if (this.inlineDepth >= DEEPEST_INLINE || !this.#affords(src)) return asText(src, tokens);
    this.inlineDepth += 1;
    try {
      return super.inlineTokens(src, tokens);
    } finally {
      this.inlineDepth -= 1;
    }
  }

  /** @param {string} src */
  #affords(src) {
    if (src.length > LONGEST_LINE) return false;
    const cost = src.length * (src.match(DELIMITERS)?.length ?? 0);
    if (cost > MOST_WORK || cost > this.work) return false;
    this.work -= cost;
    return true;
  }
}

/**
 * @param {string} source one segment
 * @param {{work: number}} budget what all segments of a text may cost together; it is used up
 * @returns {Token[]}
 */
export function tokensOf(source, budget) {
  const lexer = new BoundedLexer(budget.work);
  try {
    return lexer.lex(source);
  } catch {
    // Marked 18 fails on some mixtures of quotes and lists ('- a\n\t>1.\n='), and a reply must not.
    return asText(source, []);
  } finally {
    budget.work = lexer.work;
  }
}

/** @param {string} src @param {Token[]} tokens */
function asText(src, tokens) {
  tokens.push({ type: 'text', raw: src, text: src });
  return tokens;
}
