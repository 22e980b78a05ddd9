// Tokens back to text, one at a time: the pieces together are exactly the text of the whole.
import { bytesOf } from './byte_alphabet.js';
import { flatten, invalid, textOf } from './component.js';
import { refuseGrowth, replacedText } from './normalizers.js';
import { schemeOf } from './pre_tokenizers.js';

/**
 * @typedef {{push: (token: string) => string, flush: () => string}} TextStream what is whole so far; the rest
 */
/** @typedef {() => TextStream} Decoder a new stream, for one text */
/** @typedef {import('./component.js').Component} Component */

const ROOM = 'decoder';
const UNKNOWN = '\ufffd';
const MAX_STRIPPED = 1024;

/**
 * @param {unknown} value as in tokenizer.json
 * @returns {Decoder}
 * @throws {import('../errors.js').TokenizerInvalid}
 */
export function readDecoder(value) {
  const parts = flatten(value, ROOM, 'decoders');
  if (parts.length === 0 && value) throw invalid(ROOM, 'Sequence of nothing');
  if (parts.length === 0) return spaced;
  if (parts[0].type === 'ByteLevel') return byteLevel(parts);
  if (parts[0].type === 'Metaspace') return metaspace(parts);
  return sentencePiece(parts);
}

/** Without a decoder tokens are words. @returns {TextStream} */
function spaced() {
  let first = true;
  return {
    push(token) {
      const text = first ? token : ` ${token}`;
      first = false;
      return text;
    },
    flush: () => '',
  };
}

/** @param {Component[]} parts @returns {Decoder} */
function byteLevel(parts) {
  if (parts.length > 1) throw invalid(ROOM, `${parts[1].type} after ByteLevel`);
  return () => {
    const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
    return {
      push: (token) => decoder.decode(bytesOf(token), { stream: true }),
      flush: () => decoder.decode(),
    };
  };
}

/** @param {Component[]} parts @returns {Decoder} */
function metaspace(parts) {
  if (parts.length > 1) throw invalid(ROOM, `${parts[1].type} after Metaspace`);
  const mark = textOf(parts[0], 'replacement', ROOM);
  const begins = schemeOf(parts[0]) !== 'never';
  return () => {
    let first = begins;
    return {
      push(token) {
        const text = token.replaceAll(mark, first ? '' : ' ');
        first = false;
        return text;
      },
      flush: () => '',
    };
  };
}

/**
 * Replace, ByteFallback, Fuse and Strip, as files made from SentencePiece models have them.
 * @param {Component[]} parts
 * @returns {Decoder}
 */
function sentencePiece(parts) {
  const names = parts.map((part) => part.type).join(' ');
  if (!/^(?:Replace ?)*(?:ByteFallback ?)?(?:Fuse(?: Strip)?)?$/.test(names)) throw invalid(ROOM, names);
  const replace = replacing(parts.filter((part) => part.type === 'Replace'));
  const fallback = parts.some((part) => part.type === 'ByteFallback');
  const stripped = stripping(parts.find((part) => part.type === 'Strip'));
  return () => {
    const bytes = fallback ? byteRuns() : { push: (/** @type {string} */ token) => token, flush: () => '' };
    const strip = stripped();
    return { push: (token) => strip(bytes.push(replace(token))), flush: () => strip(bytes.flush()) };
  };
}

/** @param {Component[]} parts */
function replacing(parts) {
  refuseGrowth(parts, ROOM);
  const pairs = parts.map((part) => [replacedText(part, ROOM), textOf(part, 'content', ROOM)]);
  return (/** @type {string} */ token) =>
    pairs.reduce((text, [from, to]) => text.replaceAll(from, () => to), token);
}

/**
 * Tokens for bytes wait for the end of their run: only the whole run tells whether it is text, or
 * as many replacement characters as bytes.
 * @returns {TextStream}
 */
function byteRuns() {
  /** @type {number[]} */
  let run = [];
  const flush = () => {
    const text = textOfRun(run);
    run = [];
    return text;
  };
  const push = (/** @type {string} */ token) => {
    const digits = /^<0x([0-9a-fA-F]{2}|\+[0-9a-fA-F])>$/.exec(token)?.[1];
    if (digits === undefined) return run.length ? flush() + token : token;
    run.push(parseInt(digits, 16));
    return '';
  };
  return { push, flush };
}

/** @param {number[]} run */
function textOfRun(run) {
  try {
    return new TextDecoder('utf-8', { ignoreBOM: true, fatal: true }).decode(Uint8Array.from(run));
  } catch {
    return UNKNOWN.repeat(run.length);
  }
}

/** At the start of the text. @param {Component | undefined} part */
function stripping(part) {
  if (!part) return () => (/** @type {string} */ text) => text;
  const content = textOf(part, 'content', ROOM);
  const { start, stop } = part;
  if ([...content].length !== 1 || stop !== 0 || !Number.isInteger(start) || Number(start) > MAX_STRIPPED) {
    throw invalid(ROOM, 'Strip');
  }
  return () => {
    let left = Number(start);
    return (/** @type {string} */ text) => {
      if (left <= 0 || !text) return text;
      let from = 0;
      while (left > 0 && text.startsWith(content, from)) {
        from += content.length;
        left -= 1;
      }
      if (from < text.length) left = 0;
      return text.slice(from);
    };
  };
}
