import { casefold } from './casefold.js';

/** @typedef {import('../../types/gatelink.d.ts').AdapterInfo} AdapterInfo */

// Code points: enough for any message that a person writes; a pasted book need not be searched whole.
const SEARCHED = 50_000;
// What is no letter, number or underscore: Python's \W.
const BETWEEN_WORDS = /[^\p{L}\p{N}_]+/gu;

/**
 * The adapter with the most keywords in `text`, the first of several, null without any. A keyword counts
 * once, as whole words, in any case; what stands between words does not matter.
 * @param {string} text
 * @param {readonly AdapterInfo[]} adapters
 * @returns {AdapterInfo | null}
 */
export function choose(text, adapters) {
  const words = wordsOf(start(text, SEARCHED));
  let [best, most] = [/** @type {AdapterInfo | null} */ (null), 0];
  for (const adapter of adapters) {
    const keywords = new Set(adapter.keywords.map(wordsOf));
    keywords.delete('  ');
    const hits = [...keywords].filter((keyword) => words.includes(keyword)).length;
    if (hits > most) [best, most] = [adapter, hits];
  }
  return best;
}

/**
 * The words of `text` in one case with single spaces before, between and after them.
 * @param {string} text
 */
export function wordsOf(text) {
  return ` ${casefold(text).replace(BETWEEN_WORDS, ' ').trim()} `;
}

/** The first `count` code points. @param {string} text @param {number} count */
function start(text, count) {
  if (text.length <= count) return text;
  let end = 0;
  for (let passed = 0; passed < count && end < text.length; passed++) {
    end += /** @type {number} */ (text.codePointAt(end)) > 0xffff ? 2 : 1;
  }
  return text.slice(0, end);
}
