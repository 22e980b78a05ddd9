// The attention of the tokens of one reply: loaded when a reply asks for it.
import { AppError } from '../../common/errors.js';
import { Pieces } from '../../text/pieces.js';
import { Gathering } from './gathering.js';
import { AttentionRows, rowOf } from './rows.js';
import { promptSpans } from './transcript.js';

/** @typedef {import('../messages.js').Span} Span */
/** @typedef {import('../messages.js').Attended} Attended */
/** @typedef {import('../../../types/gatelink.d.ts').Message} Message */
/** @typedef {import('../../generation/loop.js').Extending} Extending */
/** @typedef {import('../../session/sequence.js').Sequence} Sequence */

/** What can be asked of it. @typedef {'attended' | 'row' | 'rowAt' | 'farBack' | 'brightness' | 'rows'} Ask */

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
   * @param {{brightness?: Uint16Array[] | null, begun?: string}} [about] brightness: of each of the messages, by UTF-16
   *   unit; null: it is not gathered. begun: text of the reply that the prompt ends with
   */
  constructor(tokenizer, messages, prompt, onRefused, { brightness = null, begun = '' } = {}) {
    this._pieces = new Pieces(tokenizer);
    this._promptTokens = prompt.length;
    this._onRefused = onRefused;
    this._refused = false;
    this._tokens = 0;
    /** The reply's number among the messages, and how much of its text is there. */
    this._message = messages.length;
    this._said = begun.length;
    this._rows = new AttentionRows();
    const pieces = prompt.map((id) => this._pieces.push(id)).filter((piece) => piece !== null);
    const said = begun ? [...messages, { role: /** @type {const} */ ('assistant'), content: begun }] : messages;
    /** @type {Span[]} */
    this._spans = promptSpans(pieces, said);
    this._gathering = brightness && new Gathering(this._spans, brightness);
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

  /** @param {Ask} ask @param {any} value */
  answer(ask, value) {
    switch (ask) {
      case 'attended':
        return this.attended(value);
      case 'row':
        return this.row(value);
      case 'rowAt':
        return this.rowAt(value);
      case 'farBack':
        return this.farBack(value);
      case 'brightness':
        return this._gathering?.told() ?? null;
      default:
        return this.allRows();
    }
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

  /** As `row`, by the token's position in a chat whose reply begins at `reply`. @param {{position: number, reply: number}} where */
  rowAt({ position, reply }) {
    const token = position - this._promptTokens;
    const here = reply === this._promptTokens && token >= 0 && token < this._tokens;
    return here ? this._rows.at(token) : null;
  }

  /** All rows that are kept. */
  allRows() {
    return this._rows.told(this._promptTokens).filter(({ position }) => position < this._promptTokens + this._tokens);
  }

  /**
   * The shares of what lies before a position, see EngineClient.
   * @param {{before: number, reply: number}} where @returns {{first: number, shares: Float32Array} | null}
   */
  farBack({ before, reply }) {
    if (reply !== this._promptTokens) return null;
    const { first, end } = this._rows;
    const shares = this._rows.sharesBefore(before).subarray(0, Math.max(0, Math.min(end, this._tokens) - first));
    return { first: this._promptTokens + first, shares };
  }

  /** @param {Sequence} sequence @param {number[]} tokens @param {{signal: AbortSignal}} options */
  async _extend(sequence, tokens, options) {
    if (this._refused) return sequence.extend(tokens, options);
    try {
      const extended = await sequence.extend(tokens, { ...options, attention: 'row' });
      this._take(extended.attention);
      return extended;
    } catch (error) {
      if (!(error instanceof AppError && REFUSALS.has(error.code))) throw error;
      this._refuse(error.code);
      return sequence.extend(tokens, options);
    }
  }

  /** @param {import('../../session/backend.js').Attended | null} told */
  _take(told) {
    if (told instanceof AppError) this._refuse(told.code);
    else if (told) this._add(rowOf(told));
  }

  /** @param {import('./rows.js').Row} row */
  _add(row) {
    this._rows.add(row);
    this._gathering?.look(row);
  }

  /** What follows is not asked for. @param {string} code */
  _refuse(code) {
    this._refused = true;
    this._onRefused(code);
  }

  /** @param {import('../../text/pieces.js').Piece | null} piece */
  _show(piece) {
    if (piece === null) return;
    const { text, start, stop, control } = piece;
    const span = { text, start, stop };
    if (control) {
      this._spans.push({ ...span, kind: 'control' });
      return;
    }
    this._spans.push({ ...span, kind: 'assistant', message: this._message, at: this._said });
    this._said += text.length;
  }
}
