// What each token is in bytes, for what has to know a reply byte by byte.
import { TokenizerInvalid } from '../errors.js';
import { bytesOf } from './byte_alphabet.js';
import { flatten, textOf } from './component.js';
import { replacedText } from './normalizers.js';
import { schemeOf } from './pre_tokenizers.js';

/** @typedef {import('./component.js').Component} Component */
/** What a token is, wherever but at the beginning of a text. @typedef {(token: string) => Uint8Array} Bytes */
/**
 * `bytes` of all tokens one after the other; those of token t are `offsets[t]` to `offsets[t + 1]` (exclusive), none
 * for control tokens and ids without a token. `strips`: a text's first space is not shown.
 * @typedef {{bytes: Uint8Array, offsets: Uint32Array, strips: boolean}} TokenBytes
 */

const ROOM = 'decoder';
const encoder = new TextEncoder();

/**
 * @param {import('./tokenizer.js').ModelTokenizer} tokenizer @param {number} rows of the model's embedding
 * @returns {TokenBytes}
 * @throws {TokenizerInvalid} where its tokens are not bytes that only stand one after the other
 */
export function tokenBytes(tokenizer, rows) {
  const { of, strips } = bytesReader(flatten(tokenizer.decoding, ROOM, 'decoders'));
  const texts = Array.from({ length: rows }, (_, id) => {
    const token = tokenizer.tokens[id];
    return token === undefined || tokenizer.added.special.has(token) ? null : of(token);
  });
  const offsets = new Uint32Array(rows + 1);
  texts.forEach((text, id) => (offsets[id + 1] = offsets[id] + (text?.length ?? 0)));
  const bytes = new Uint8Array(offsets[rows]);
  texts.forEach((text, id) => text && bytes.set(text, offsets[id]));
  return { bytes, offsets, strips };
}

/** @param {Component[]} parts @returns {{of: Bytes, strips: boolean}} */
function bytesReader(parts) {
  if (!parts.length) throw new TokenizerInvalid('its tokens are words, which no form can follow');
  if (parts[0].type === 'ByteLevel') return { of: bytesOf, strips: false };
  if (parts[0].type === 'Metaspace') {
    const mark = textOf(parts[0], 'replacement', ROOM);
    return { of: (token) => encoder.encode(token.replaceAll(mark, ' ')), strips: schemeOf(parts[0]) !== 'never' };
  }
  return sentencePiece(parts);
}

/** @param {Component[]} parts */
function sentencePiece(parts) {
  const pairs = parts.filter((part) => part.type === 'Replace').map((part) =>
    /** @type {[string, string]} */ ([replacedText(part, ROOM), textOf(part, 'content', ROOM)]));
  const fallback = parts.some((part) => part.type === 'ByteFallback');
  const strip = parts.find((part) => part.type === 'Strip' && part.start !== 0);
  if (strip && (strip.start !== 1 || strip.content !== ' ')) {
    throw new TokenizerInvalid('it strips more than a space, which no form can follow');
  }
  /** @type {Bytes} */
  const of = (token) => {
    const byte = fallback ? /^<0x([0-9a-fA-F]{2})>$/.exec(token) : null;
    if (byte) return Uint8Array.of(parseInt(byte[1], 16));
    return encoder.encode(pairs.reduce((text, [from, to]) => text.replaceAll(from, () => to), token));
  };
  return { of, strips: strip !== undefined };
}
