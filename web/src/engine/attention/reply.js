// The attention of the tokens of one reply: loaded when a reply asks for it.
import { AppError } from '../../common/errors.js';
import { Pieces } from '../../text/pieces.js';
import { AttentionRows, meanOverLayers } from './rows.js';
import { promptSpans } from './transcript.js';

/** @typedef {import('../messages.js').Span} Span */
/** @typedef {import('../messages.js').Attended} Attended */
/** @typedef {import('../../../types/gatelink.d.ts').Message} Message */
/** @typedef {import('../../generation/loop.js').Extending} Extending */
/** @typedef {import('../../session/sequence.js').Sequence} Sequence */

// Why a reply goes on without: docs/protocol.md.
const REFUSALS = new Set(['unsupported', 'attention_too_large']);
// Spans of one answer: the page takes them in without a pause that is felt.
const SPANS_AT_ONCE = 1000;

/** The tokens of one prompt and its reply as text, and the attention of the reply's. */
export class ReplyAttention {
  /**
   * @param {import('../../text/pieces.js').Tokens} tokenizer
   * @param {Message[]} messages of the prompt
   * @param {number[]} prompt ids
   * @param {(code: string) => void} onRefused the server tells no more attention
   */
  constructor(tokenizer, messages, prompt, onRefused) {
    this._pieces = new Pieces(tokenizer);
    this._promptTokens = prompt.length;
    this._onRefused = onRefused;
    this._refused = false;
    this._tokens = 0;
    this._rows = new AttentionRows();
    const pieces = prompt.map((id) => this._pieces.push(id)).filter((piece) => piece !== null);
    /** @type {Span[]} */
    this._spans = promptSpans(pieces, messages);
  }

  /**
   * The sequence with attention asked for; where it is refused the reply goes on without.
   * @param {Sequence} sequence
   * @returns {Extending}
   */
  attending(sequence) {
    return {
      eachRow: true,
      get reachable() {
        return sequence.reachable;
      },
      maxContext: (options) => sequence.maxContext(options),
      extend: (tokens, options) => this._extend(sequence, tokens, options),
    };
  }

  /** @param {number} token id that was chosen; below 0: none */
  push(token) {
    if (token < 0) return;
    this._tokens += 1;
    this._show(this._pieces.push(token));
  }

  /** No token follows. */
  end() {
    this._show(this._pieces.flush());
  }

  /** @param {number} from spans that are known already @returns {Attended} */
  attended(from) {
    const { _promptTokens: promptTokens, _tokens: tokens } = this;
    const { first, end } = this._rows;
    const spans = this._spans.slice(from, from + SPANS_AT_ONCE);
    const more = from + spans.length < this._spans.length;
    return { promptTokens, tokens, first, end: Math.min(end, tokens), spans, more };
  }

  /**
   * The weights of the tokens before the one that was chosen, [promptTokens + token].
   * @param {number | null} token of the reply, from 0; null: the average over all that are kept
   * @returns {Float32Array | null}
   */
  row(token) {
    return token === null ? this._rows.average() : this._rows.at(token);
  }

  /** @param {Sequence} sequence @param {number[]} tokens @param {{signal: AbortSignal}} options */
  async _extend(sequence, tokens, options) {
    if (this._refused) return sequence.extend(tokens, options);
    try {
      const extended = await sequence.extend(tokens, { ...options, attention: true });
      if (extended.attention) this._rows.add(meanOverLayers(extended.attention, tokens.length));
      return extended;
    } catch (error) {
      if (!(error instanceof AppError && REFUSALS.has(error.code))) throw error;
      this._refused = true;
      this._onRefused(error.code);
      return sequence.extend(tokens, options);
    }
  }

  /** @param {import('../../text/pieces.js').Piece | null} piece */
  _show(piece) {
    if (piece === null) return;
    const { text, start, stop, control } = piece;
    this._spans.push({ text, start, stop, kind: control ? 'control' : 'assistant' });
  }
}
