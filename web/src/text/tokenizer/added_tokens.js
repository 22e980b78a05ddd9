// Tokens that a text is cut at before the model sees it: control tokens and words added later.
import { classSource, wordCharacters, WHITE_SPACE } from '../unicode/code_points.js';
import { isRecord } from './component.js';
import { TokenizerInvalid } from '../errors.js';
import { TokenTrie } from './token_trie.js';

/**
 * @typedef {object} AddedToken
 * @property {number} id
 * @property {string} content
 * @property {boolean} singleWord only where no word character is beside it
 * @property {boolean} lstrip it takes the white space before it along
 * @property {boolean} rstrip and that after it
 * @property {boolean} normalized it is looked for in the normalised text
 * @property {boolean} special left out of decoded text
 */
/** @typedef {{start: number, end: number, id: number | null}} Section id null: ordinary text */

const MAX_TOKENS = 200_000;
const MAX_CONTENT = 256;
// Of all together, in UTF-16 units: every one is a node of a tree.
const MAX_CONTENTS = 1 << 18;
const FLAGS = { single_word: false, lstrip: false, rstrip: false, special: false };

export class AddedTokens {
  /**
   * @param {AddedToken[]} tokens
   * @param {(text: string) => string} normalize
   */
  constructor(tokens, normalize) {
    /** @type {Map<number, AddedToken>} */
    this.byId = new Map(tokens.map((token) => [token.id, token]));
    this.special = new Set(tokens.filter((token) => token.special).map((token) => token.content));
    // Of two that look the same after normalisation the control token counts.
    const ordered = [...tokens.filter((token) => token.special), ...tokens.filter((token) => !token.special)];
    this.raw = new TokenTrie();
    this.normalized = new TokenTrie();
    for (const token of ordered) {
      const text = token.normalized ? normalize(token.content) : token.content;
      if (!text) throw new TokenizerInvalid('an added token has no text');
      (token.normalized ? this.normalized : this.raw).add(text, token.id);
    }
  }

  /** Cuts a text as it was given. @param {string} text */
  sections(text) {
    return this.cut(text, this.raw);
  }

  /** Cuts a text that was normalised. @param {string} text */
  normalizedSections(text) {
    return this.cut(text, this.normalized);
  }

  /** @param {string} text @param {TokenTrie} trie @returns {Section[]} */
  cut(text, trie) {
    /** @type {Section[]} */
    const sections = [];
    let done = 0;
    for (const match of trie.matches(text)) {
      const token = /** @type {AddedToken} */ (this.byId.get(match.id));
      if (token.singleWord && !standsAlone(text, match.start, match.end)) continue;
      const start = token.lstrip ? Math.max(spaceBefore(text, match.start), done) : match.start;
      const end = token.rstrip ? spaceAfter(text, match.end) : match.end;
      if (done < start) sections.push({ start: done, end: start, id: null });
      sections.push({ start, end, id: match.id });
      done = end;
    }
    if (done !== text.length) sections.push({ start: done, end: text.length, id: null });
    return sections;
  }
}

/** @type {RegExp | null} */
let word = null;
const SPACE = new RegExp(classSource(WHITE_SPACE), 'u');

/** @param {string} text @param {number} start @param {number} end */
function standsAlone(text, start, end) {
  word ??= new RegExp(classSource(wordCharacters()), 'u');
  const before = text.slice(Math.max(start - 2, 0), start);
  const last = [...before].at(-1) ?? '';
  const next = String.fromCodePoint(text.codePointAt(end) ?? 0x20);
  return !word.test(last) && !word.test(next);
}

/** @param {string} text @param {number} at */
function spaceBefore(text, at) {
  while (at > 0 && SPACE.test(text[at - 1])) at -= 1;
  return at;
}

/** @param {string} text @param {number} at */
function spaceAfter(text, at) {
  while (at < text.length && SPACE.test(text[at])) at += 1;
  return at;
}

/**
 * @param {unknown} value `added_tokens` of a tokenizer.json
 * @param {Map<string, number>} vocabulary the model's
 * @returns {AddedToken[]}
 * @throws {TokenizerInvalid}
 */
export function readAddedTokens(value, vocabulary) {
  if (!Array.isArray(value) || value.length > MAX_TOKENS)
    throw new TokenizerInvalid('it has no added_tokens');
  /** @type {Map<string, AddedToken>} */
  const tokens = new Map();
  let length = 0;
  let highest = -1;
  for (const item of value) {
    const token = readToken(item);
    if (tokens.has(token.content)) throw new TokenizerInvalid('two added tokens have the same text');
    // The library numbers new ones itself whatever the file says.
    const next = Math.max(highest + 1, vocabulary.size);
    if (token.id !== (vocabulary.get(token.content) ?? next)) {
      throw new TokenizerInvalid('its added tokens are not numbered in their order');
    }
    tokens.set(token.content, token);
    highest = Math.max(highest, token.id);
    length += token.content.length;
    if (length > MAX_CONTENTS) throw new TokenizerInvalid('its added tokens are too long');
  }
  return [...tokens.values()];
}

/** @param {unknown} item @returns {AddedToken} */
function readToken(item) {
  if (!isRecord(item)) throw new TokenizerInvalid('an added token is damaged');
  const { id, content, normalized } = item;
  const flags = Object.entries({ ...FLAGS, normalized: true }).map(([name]) => item[name]);
  if (
    typeof id !== 'number' ||
    typeof content !== 'string' ||
    flags.some((flag) => typeof flag !== 'boolean')
  ) {
    throw new TokenizerInvalid('an added token is damaged');
  }
  if (!content || content.length > MAX_CONTENT || /\p{Surrogate}/u.test(content)) {
    throw new TokenizerInvalid('an added token has no text, or too long a one');
  }
  return {
    id,
    content,
    singleWord: item.single_word === true,
    lstrip: item.lstrip === true,
    rstrip: item.rstrip === true,
    normalized: normalized === true,
    special: item.special === true,
  };
}
