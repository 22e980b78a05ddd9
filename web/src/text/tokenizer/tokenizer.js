// Text to token ids and back, with the model's own tokenizer.json: the ids of the `tokenizers` library.
import { AddedTokens, readAddedTokens } from './added_tokens.js';
import { isRecord } from './component.js';
import { readModel } from './bpe.js';
import { readDecoder } from './decoders.js';
import { PromptTooLong, TokenizerInvalid } from '../errors.js';
import { readNormalizer } from './normalizers.js';
import { readPostProcessor } from './post_processor.js';
import { readPreTokenizer } from './pre_tokenizers.js';

/** UTF-16 units of one text. */
export const MAX_TEXT = 4 << 20;
// Normalisation makes few texts longer; a merge counts the places of a word's bytes below 2^24.
const MAX_NORMALIZED = 5 << 20;
const MAX_FILE = 64 << 20;
const LONE_SURROGATES = /\p{Surrogate}/gu;

/** Control tokens written out in a text become control tokens, as they do in Hugging Face's default. */
export class ModelTokenizer {
  /**
   * @param {string} file the text of a tokenizer.json
   * @param {number} rows how many ids have an embedding; a file that makes others is refused
   * @returns {ModelTokenizer}
   * @throws {TokenizerInvalid} also for every part that is not known to give the library's ids
   */
  static open(file, rows) {
    if (file.length > MAX_FILE) throw new TokenizerInvalid('its file is too long');
    let parts;
    try {
      parts = JSON.parse(file);
    } catch (error) {
      throw new TokenizerInvalid('its file is damaged');
    }
    if (!isRecord(parts)) throw new TokenizerInvalid('its file is damaged');
    return new ModelTokenizer(parts, rows);
  }

  /** @param {Record<string, unknown>} parts @param {number} rows */
  constructor(parts, rows) {
    const { normalize, prepends } = readNormalizer(parts.normalizer);
    this.normalize = normalize;
    this.preTokenizer = readPreTokenizer(parts.pre_tokenizer);
    /**
     * Told before a text is encoded and after: its patterns are a stranger's, and nothing but the end of the
     * worker ends one that takes for ever.
     * @type {(busy: boolean) => void}
     */
    this.watch = () => {};
    this.model = readModel(parts.model, this.preTokenizer.bytes);
    const added = readAddedTokens(parts.added_tokens, this.model.vocabulary);
    if (prepends && this.preTokenizer.first && added.some((token) => token.normalized)) {
      throw new TokenizerInvalid(
        'its added tokens (normalized, after Prepend and Metaspace) are not supported here',
      );
    }
    this.added = new AddedTokens(added, normalize);
    this.decoder = readDecoder(parts.decoder);
    /** As in the file. */
    this.decoding = parts.decoder;
    this.postProcess = readPostProcessor(parts.post_processor);
    this.tokens = this.tokensById(added);
    if (this.tokens.length > rows || this.postProcess([]).some((id) => id >= rows)) {
      throw new TokenizerInvalid(`it has more tokens than the model's ${rows} embeddings`);
    }
  }

  /**
   * @param {string} text
   * @param {{addSpecialTokens?: boolean}} [options] addSpecialTokens adds what a plain prompt begins with
   * @returns {number[]} ids
   * @throws {PromptTooLong}
   */
  encode(text, { addSpecialTokens = false } = {}) {
    if (text.length > MAX_TEXT) throw new PromptTooLong(text.length, MAX_TEXT);
    this.watch(true);
    try {
      return this.encoded(text, addSpecialTokens);
    } finally {
      this.watch(false);
    }
  }

  /** @param {string} text @param {boolean} addSpecialTokens @returns {number[]} */
  encoded(text, addSpecialTokens) {
    // A lone surrogate is no text and has no UTF-8.
    const clean = text.replace(LONE_SURROGATES, '?');
    /** @type {number[]} */
    const ids = [];
    for (const { start, end, id } of this.added.sections(clean)) {
      if (id === null) this.encodeSection(clean.slice(start, end), start === 0, ids);
      else ids.push(id);
    }
    return addSpecialTokens ? this.postProcess(ids) : ids;
  }

  /** @param {string} section @param {boolean} first it begins the text @param {number[]} into */
  encodeSection(section, first, into) {
    const text = this.normalize(section);
    if (text.length > MAX_NORMALIZED) throw new PromptTooLong(text.length, MAX_NORMALIZED);
    for (const { start, end, id } of this.added.normalizedSections(text)) {
      if (id !== null) into.push(id);
      else if (end > start) this.encodeWords(text.slice(start, end), first && start === 0, into);
    }
  }

  /** @param {string} text @param {boolean} first @param {number[]} into */
  encodeWords(text, first, into) {
    for (const word of this.preTokenizer.cut(text, first)) this.model.encode(word, into);
  }

  /**
   * The text of ids; ids without a token (padding rows of the model) have none.
   * @param {ArrayLike<number>} ids
   * @param {boolean} [skipSpecialTokens]
   * @returns {string}
   */
  decode(ids, skipSpecialTokens = true) {
    const stream = this.stream(skipSpecialTokens);
    const pieces = [];
    for (let index = 0; index < ids.length; index += 1) pieces.push(stream.push(ids[index]));
    pieces.push(stream.flush());
    return pieces.join('');
  }

  /**
   * The text of ids that come one at a time.
   * @param {boolean} [skipSpecialTokens]
   * @returns {{push: (id: number) => string, flush: () => string}} together exactly what `decode` gives
   */
  stream(skipSpecialTokens = true) {
    const decoder = this.decoder();
    return {
      push: (id) => {
        const token = this.tokens[id];
        if (token === undefined || (skipSpecialTokens && this.added.special.has(token))) return '';
        return decoder.push(token);
      },
      flush: () => decoder.flush(),
    };
  }

  /**
   * Ids of `text` as it continues `ids`, null where only the whole text can tell.
   *
   * The two sides of a control token never merge. Elsewhere they may, and some tokenizers begin a
   * text with a space of their own.
   * @param {number[]} ids
   * @param {string} text
   * @returns {number[] | null}
   */
  encodeAfter(ids, text) {
    const before = ids.length ? this.control(ids[ids.length - 1]) : null;
    if (before !== null) {
      const joined = this.encode(before + text);
      return joined[0] === ids[ids.length - 1] ? joined.slice(1) : null;
    }
    const rest = this.encode(text);
    const after = rest.length ? this.control(rest[0]) : null;
    return after !== null && text.startsWith(after) ? rest : null;
  }

  /** The text of a control token, null for others. @param {number} id */
  control(id) {
    const token = this.added.byId.get(id);
    return token?.special ? token.content : null;
  }

  /** @param {import('./added_tokens.js').AddedToken[]} added */
  tokensById(added) {
    /** @type {(string | undefined)[]} */
    const tokens = [];
    for (const [token, id] of this.model.vocabulary) tokens[id] = token;
    // The decoder undoes what the normalizer did, to added tokens too.
    for (const token of added) {
      tokens[token.id] = token.normalized ? this.normalize(token.content) : token.content;
    }
    return tokens;
  }
}
