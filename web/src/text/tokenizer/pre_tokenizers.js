// Pre-tokenizers, which cut a normalised text into words, none of which a merge crosses.
import { classSource, numericCharacters } from '../unicode/code_points.js';
import { flagOf, flatten, invalid, isRecord, textOf } from './component.js';
import { BEHAVIOURS, splitBy } from './split_behaviour.js';
import { splitPattern } from './split_pattern.js';

/** @typedef {(piece: string, first: boolean) => string[]} Cut first: the piece begins the whole text */

const ROOM = 'pre_tokenizer';
const GPT2 = "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+";

/**
 * @param {unknown} value as in tokenizer.json
 * @returns {{cut: Cut, bytes: boolean, first: boolean}} bytes: the model sees bytes, not characters; first:
 *   what begins the text is treated differently
 * @throws {import('../errors.js').TokenizerInvalid}
 */
export function readPreTokenizer(value) {
  const parts = flatten(value, ROOM, 'pretokenizers');
  parts.forEach((part, index) => {
    // The model gets bytes from it, so nothing can follow; what begins the text is known before any cut.
    if (part.type === 'ByteLevel' && index < parts.length - 1) throw invalid(ROOM, 'ByteLevel before others');
    if (part.type === 'Metaspace' && index > 0) throw invalid(ROOM, 'Metaspace after others');
  });
  const cuts = parts.map(cutOf);
  return {
    cut: (piece, first) => cuts.reduce((pieces, cut) => pieces.flatMap((each) => cut(each, first)), [piece]),
    bytes: parts.at(-1)?.type === 'ByteLevel',
    first: parts[0]?.type === 'Metaspace' && schemeOf(parts[0]) === 'first',
  };
}

/** @param {import('./component.js').Component} part @returns {Cut} */
function cutOf(part) {
  if (part.type === 'ByteLevel') return byteLevel(part);
  if (part.type === 'Split') return split(part);
  if (part.type === 'Digits') return digits(part);
  if (part.type === 'Metaspace') return metaspace(part);
  throw invalid(ROOM, part.type);
}

/** @param {import('./component.js').Component} part @returns {Cut} */
function byteLevel(part) {
  const space = flagOf(part, 'add_prefix_space', ROOM);
  const pattern = flagOf(part, 'use_regex', ROOM, true) ? splitPattern(GPT2) : null;
  return (piece) => {
    const text = space && !piece.startsWith(' ') ? ` ${piece}` : piece;
    return pattern ? splitBy(text, pattern, 'Isolated', false) : [text];
  };
}

/** @param {import('./component.js').Component} part @returns {Cut} */
function split(part) {
  const { behavior } = part;
  const invert = flagOf(part, 'invert', ROOM);
  if (typeof behavior !== 'string' || !BEHAVIOURS.includes(behavior)) throw invalid(ROOM, 'Split, behavior');
  const pattern = patternOf(part.pattern);
  return (piece) => splitBy(piece, pattern, behavior, invert);
}

/** @param {unknown} value @returns {RegExp} */
function patternOf(value) {
  if (isRecord(value) && typeof value.Regex === 'string') return splitPattern(value.Regex);
  if (isRecord(value) && typeof value.String === 'string' && value.String) return literal(value.String);
  throw invalid(ROOM, 'Split, pattern');
}

/** @param {string} text */
function literal(text) {
  const codes = Array.from(text, (character) => /** @type {number} */ (character.codePointAt(0)));
  return new RegExp(codes.map((code) => classSource([[code, code]])).join(''), 'gu');
}

/** @param {import('./component.js').Component} part @returns {Cut} */
function digits(part) {
  const behaviour = flagOf(part, 'individual_digits', ROOM) ? 'Isolated' : 'Contiguous';
  const pattern = new RegExp(classSource(numericCharacters()), 'gu');
  return (piece) => splitBy(piece, pattern, behaviour, false);
}

/** @param {import('./component.js').Component} part @returns {Cut} */
function metaspace(part) {
  const mark = textOf(part, 'replacement', ROOM);
  if ([...mark].length !== 1) throw invalid(ROOM, 'Metaspace, replacement');
  const scheme = schemeOf(part);
  const cuts = flagOf(part, 'split', ROOM, true);
  const pattern = literal(mark);
  return (piece, first) => {
    const marked = piece.replaceAll(' ', () => mark);
    const prepend = (scheme === 'always' || (scheme === 'first' && first)) && !marked.startsWith(mark);
    const text = prepend ? mark + marked : marked;
    return cuts ? splitBy(text, pattern, 'MergedWithNext', false) : [text];
  };
}

/** @param {import('./component.js').Component} part */
export function schemeOf(part) {
  const scheme = part.prepend_scheme ?? (part.add_prefix_space === false ? 'never' : 'always');
  if (scheme !== 'always' && scheme !== 'first' && scheme !== 'never')
    throw invalid('Metaspace', 'prepend_scheme');
  if (part.add_prefix_space === false && scheme !== 'never') throw invalid('Metaspace', 'add_prefix_space');
  return scheme;
}
