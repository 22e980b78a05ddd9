import { signal } from '@preact/signals';
import { sharesOf } from '../view/shares.js';

/** @typedef {import('../../engine/messages.js').Span} Span */
/** @typedef {import('../view/shares.js').Shares} Shares */
/**
 * Tokens of the reply from `first` to `end` (exclusive) can be chosen; `dropped` before them had no room.
 * @typedef {{first: number, end: number, dropped: boolean}} Range
 */
/** Shares of the row of a token of the reply, or of the average (null). @typedef {Shares & {of: number | null}} Row */

/** One reply with its attention: its tokens, and the row that is chosen. */
export class AttendedReply {
  /**
   * @param {Pick<import('../../engine/client.js').EngineClient, 'attended' | 'attention'>} engine
   * @param {string} chat
   */
  constructor(engine, chat) {
    this._engine = engine;
    this._chat = chat;
    /** Of prompt and reply, in order; only ever grows. @type {Span[]} */
    this.spans = [];
    /** @type {Map<number, number>} positions of the reply to spans */
    this._places = new Map();
    this._promptTokens = 0;
    /** null: nothing is known yet. @type {import('@preact/signals').Signal<Range | null>} */
    this.range = signal(null);
    /** Whether the engine has nothing of this reply any more. */
    this.gone = signal(false);
    /** A token of the reply; null: the average. */
    this.choice = signal(/** @type {number | null} */ (null));
    /** Of the latest choice whose row is here. @type {import('@preact/signals').Signal<Row | null>} */
    this.row = signal(null);
    /** @type {Promise<void> | null} */
    this._refreshing = null;
  }

  /** Takes in what is new; of several calls at a time one asks. */
  refresh() {
    this._refreshing ??= this._refresh().finally(() => (this._refreshing = null));
    return this._refreshing;
  }

  /** @param {number | null} token of the reply; null: the average */
  async choose(token) {
    this.choice.value = token;
    const row = await this._asked(() => this._engine.attention(this._chat, token));
    // Another one was chosen meanwhile, or it has made room for later ones.
    if (row && this.choice.value === token) this.row.value = { ...sharesOf(row, this.spans), of: token };
  }

  /** The span of a token of the reply. @param {number} token @returns {number | null} */
  spanOf(token) {
    return this._places.get(this._promptTokens + token) ?? null;
  }

  /** The first token of a span that can be chosen. @param {number} span @returns {number | null} */
  tokenOf(span) {
    const token = Math.max(0, this.spans[span].start - this._promptTokens);
    const range = this.range.value;
    const chosen = range && token >= range.first && token < range.end;
    return chosen && this.spanOf(token) === span ? token : null;
  }

  /** The last token that can be chosen, one with a text of its own if there is one. */
  newest() {
    const { first, end } = this.range.value ?? { first: 0, end: 1 };
    for (let token = end - 1; token >= first; token--) {
      const span = this.spanOf(token);
      if (span !== null && this.spans[span].kind === 'assistant') return token;
    }
    return end - 1;
  }

  async _refresh() {
    let attended;
    do {
      attended = await this._asked(() => this._engine.attended(this._chat, this.spans.length));
      if (!attended) {
        this.gone.value = true;
        return;
      }
      this._promptTokens = attended.promptTokens;
      for (const span of attended.spans) this._take(span);
    } while (attended.more);
    const last = this.spans.at(-1)?.stop ?? 0;
    const end = Math.min(attended.end, last - attended.promptTokens);
    this.range.value = { first: attended.first, end, dropped: attended.first > 0 };
    if (this.choice.value === null) await this.choose(null);
  }

  /** @param {Span} span */
  _take(span) {
    this.spans.push(span);
    for (let at = Math.max(span.start, this._promptTokens); at < span.stop; at++) {
      this._places.set(at, this.spans.length - 1);
    }
  }

  /**
   * @template T
   * @param {() => Promise<T>} ask
   * @returns {Promise<T | null>} null also where the engine has died
   */
  async _asked(ask) {
    try {
      return await ask();
    } catch {
      return null;
    }
  }
}
