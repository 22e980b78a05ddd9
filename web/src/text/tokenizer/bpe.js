// Byte pair encoding as the `tokenizers` library has it: words to ids.
import { charactersOf, characterOf } from './byte_alphabet.js';
import { invalid, isRecord } from './component.js';
import { MergeTable } from './merges.js';
import { Merging } from './merging.js';
import { TokenizerInvalid } from '../errors.js';

/**
 * @typedef {object} BpeOptions
 * @property {number | null} unknown id of what is in no other token
 * @property {boolean} fuseUnknown one id for a run of them
 * @property {boolean} byteFallback tokens '<0xNN>' for the bytes of what is unknown
 * @property {boolean} ignoreMerges a word that is a token needs no merges
 */

const ROOM = 'model';
const MAX_IDS = 2 ** 23;
const MAX_MERGES = 2 ** 23;
// Most words of a text have been seen before; the longest ones have not.
const CACHED_WORDS = 20_000;
const CACHED_LENGTH = 48;
const encoder = new TextEncoder();

export class BytePairs {
  /**
   * @param {Map<string, number>} vocabulary
   * @param {MergeTable} merges
   * @param {BpeOptions} options
   * @param {boolean} bytes words come as text, and the vocabulary is of bytes in GPT-2's alphabet
   */
  constructor(vocabulary, merges, options, bytes) {
    this.vocabulary = vocabulary;
    this.options = options;
    this.bytes = bytes;
    this.merging = new Merging(merges);
    /** @type {Map<string, number[]>} */
    this.cache = new Map();
    const ids = (/** @type {(byte: number) => string} */ name) =>
      Int32Array.from({ length: 256 }, (_, byte) => vocabulary.get(name(byte)) ?? -1);
    this.byteIds = ids(characterOf);
    this.fallbackIds = ids((byte) => `<0x${byte.toString(16).toUpperCase().padStart(2, '0')}>`);
  }

  /** Appends the ids of a word. @param {string} word not empty @param {number[]} into */
  encode(word, into) {
    const cacheable = word.length <= CACHED_LENGTH;
    let ids = cacheable ? this.cache.get(word) : undefined;
    if (!ids) {
      ids = this.encodeNew(word);
      if (this.cache.size >= CACHED_WORDS) this.cache.clear();
      if (cacheable) this.cache.set(word, ids);
    }
    for (const id of ids) into.push(id);
  }

  /** @param {string} word @returns {number[]} */
  encodeNew(word) {
    const bytes = this.bytes ? encoder.encode(word) : null;
    if (this.options.ignoreMerges) {
      const id = this.vocabulary.get(bytes ? charactersOf(bytes) : word);
      if (id !== undefined) return [id];
    }
    const symbols = new Symbols(this.options, bytes?.length ?? word.length);
    if (bytes) for (const byte of bytes) this.add(symbols, this.byteIds[byte], characterOf(byte));
    else for (const character of word) this.add(symbols, this.vocabulary.get(character) ?? -1, character);
    return this.merging.merge(symbols.end());
  }

  /** @param {Symbols} symbols @param {number} id -1: no token @param {string} character */
  add(symbols, id, character) {
    if (id >= 0) symbols.known(id);
    else if (!this.options.byteFallback || !this.fallBack(symbols, character)) symbols.unknown();
  }

  /** @param {Symbols} symbols @param {string} character @returns {boolean} whether every byte has a token */
  fallBack(symbols, character) {
    const ids = Array.from(encoder.encode(character), (byte) => this.fallbackIds[byte]);
    if (ids.some((id) => id < 0)) return false;
    for (const id of ids) symbols.append(id);
    return true;
  }
}

/** First ids of a word, before any merge. */
class Symbols {
  /** @param {BpeOptions} options @param {number} capacity */
  constructor(options, capacity) {
    this.options = options;
    this.ids = new Int32Array(capacity * 3 + 1);
    this.count = 0;
    this.waiting = false;
  }

  /** @param {number} id */
  append(id) {
    this.ids[this.count++] = id;
  }

  /** @param {number} id */
  known(id) {
    this.settle();
    this.append(id);
  }

  /** The unknown token waits for the next known one; bytes that stand for a character overtake it. */
  unknown() {
    if (this.options.unknown === null) return;
    if (!this.options.fuseUnknown) this.settle();
    this.waiting = true;
  }

  settle() {
    if (this.waiting && this.options.unknown !== null) this.append(this.options.unknown);
    this.waiting = false;
  }

  end() {
    this.settle();
    return this.ids.subarray(0, this.count);
  }
}

/**
 * @param {unknown} value the model of a tokenizer.json
 * @param {boolean} bytes
 * @returns {BytePairs}
 * @throws {TokenizerInvalid}
 */
export function readModel(value, bytes) {
  if (!isRecord(value)) throw invalid(ROOM, 'missing');
  // Files from before the library named its models have no type.
  if (value.type !== undefined && value.type !== 'BPE') throw invalid(ROOM, String(value.type));
  for (const key of ['continuing_subword_prefix', 'end_of_word_suffix', 'dropout']) {
    if (value[key]) throw invalid(ROOM, `BPE, ${key}`);
  }
  const vocabulary = readVocabulary(value.vocab);
  const unknown = value.unk_token ?? null;
  if (unknown !== null && (typeof unknown !== 'string' || !vocabulary.has(unknown))) {
    throw invalid(ROOM, 'BPE, unk_token');
  }
  const options = {
    unknown: unknown === null ? null : (vocabulary.get(unknown) ?? null),
    fuseUnknown: option(value, 'fuse_unk'),
    byteFallback: option(value, 'byte_fallback'),
    ignoreMerges: option(value, 'ignore_merges'),
  };
  return new BytePairs(vocabulary, readMerges(value.merges, vocabulary), options, bytes);
}

/** @param {Record<string, unknown>} model @param {string} key */
function option(model, key) {
  const value = model[key] ?? false;
  if (typeof value !== 'boolean') throw invalid(ROOM, `BPE, ${key}`);
  return value;
}

/** @param {unknown} value @returns {Map<string, number>} */
function readVocabulary(value) {
  if (!isRecord(value)) throw invalid(ROOM, 'BPE, vocab');
  /** @type {Map<string, number>} */
  const vocabulary = new Map();
  const seen = new Set();
  for (const token of Object.keys(value)) {
    const id = value[token];
    if (typeof id !== 'number' || !Number.isInteger(id) || id < 0 || id >= MAX_IDS || seen.has(id)) {
      throw new TokenizerInvalid('an id of its vocabulary is not a number of its own');
    }
    seen.add(id);
    vocabulary.set(token, id);
  }
  return vocabulary;
}

/** @param {unknown} value @param {Map<string, number>} vocabulary */
function readMerges(value, vocabulary) {
  if (!Array.isArray(value) || value.length > MAX_MERGES) throw invalid(ROOM, 'BPE, merges');
  const table = new MergeTable(value.length);
  value.forEach((pair, rank) => {
    const [left, right, ...rest] =
      typeof pair === 'string' ? pair.split(' ') : Array.isArray(pair) ? pair : [];
    const [a, b, id] = [vocabulary.get(left), vocabulary.get(right), vocabulary.get(`${left}${right}`)];
    if (rest.length || a === undefined || b === undefined || id === undefined) {
      throw new TokenizerInvalid('a merge of its model makes no token');
    }
    table.set(a, b, rank, id);
  });
  return table;
}
