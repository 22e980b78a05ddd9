// What a reply gave and cost.

/** @typedef {import('../messages.js').Finished} Finished */
/** @typedef {import('../messages.js').Token} Token */
/** @typedef {import('../../session/sequence.js').Sequence['counters']} Counters */
/** @typedef {Omit<Finished, 'drafted' | 'accepted'>} Counted */

const NO_TOKEN = {
  token: -1,
  probability: 1,
  rows: 0,
  drafted: 0,
  forced: false,
  timing: { total: 0, engine: 0, queue: 0, wire: 0, device: 0 },
};

/** What is there of a reply that goes on, as a page is told of it. @param {string} text @returns {Token} */
export const begunToken = (text) => ({ ...NO_TOKEN, text, index: 0, begun: true });

/** Counts it, and tells each token. */
export class Tally {
  /**
   * @param {(token: Token) => void} onToken @param {Counters} counters of the chat's sequence, as they run on
   * @param {{ids: number[], text: string}} [begun] what is there of the reply already
   */
  constructor(onToken, counters, begun = { ids: [], text: '' }) {
    this._onToken = onToken;
    this._counters = counters;
    this._before = { ...counters };
    this.text = begun.text;
    /** Of the whole reply. */
    this.ids = [...begun.ids];
    this._begun = begun.ids.length;
    /** @type {Finished['reason']} */
    this._reason = 'cancelled';
    this._ttft = 0;
    this._later = 0;
    this._forced = 0;
    /** Whether a step followed the prompt's: else there is no speed to tell. */
    this._decoding = false;
    /** Rows of the prompt that the first step carried; null: there was none yet. @type {number | null} */
    this._sent = null;
    this._restored = 0;
    this._exact = Infinity;
  }

  /** @param {import('../../generation/loop.js').TokenEvent | import('../../generation/loop.js').Finished} event */
  take(event) {
    this.text += event.text;
    const fresh = this._fresh;
    if (event.type === 'finished') {
      this._reason = event.reason;
      if (event.text) this._onToken({ ...NO_TOKEN, text: event.text, index: this.ids.length });
      return;
    }
    const { token, text, probability, rows, drafted, forced, timing } = event;
    if (rows > 0) {
      if (this._sent === null) this._first(rows - drafted - fresh);
      else this._decoding = true;
    }
    if (fresh === 0) this._ttft = timing.total;
    else this._later += timing.total;
    if (forced) this._forced += 1;
    this._onToken({ token, text, probability, rows, drafted, forced, timing, index: this.ids.length });
    this.ids.push(token);
  }

  /** @param {number} promptTokens @param {bigint} seed @param {string | null} adapter @returns {Counted} */
  finished(promptTokens, seed, adapter) {
    const tokens = this._fresh;
    const inexact = Math.max(0, promptTokens - (this._sent ?? promptTokens) - this._exact);
    return {
      reason: this._reason,
      text: this.text,
      tokens,
      promptTokens,
      promptSent: this._sent ?? 0,
      promptRestored: Math.min(this._restored, promptTokens),
      ...(inexact && { promptApproximate: inexact }),
      roundTrips: this._counters.steps - this._before.steps,
      rowsSent: this._counters.rowsSent - this._before.rowsSent,
      forced: this._forced,
      seed: seed.toString(),
      adapter,
      ttft: this._ttft,
      tokensPerSecond: this._decoding && this._later > 0 ? (tokens - 1) / this._later : 0,
    };
  }

  /** Tokens that are new. */
  get _fresh() {
    return this.ids.length - this._begun;
  }

  /** @param {number} rows of the first step, without drafts and new tokens */
  _first(rows) {
    this._sent = Math.max(0, rows);
    this._restored = this._counters.rowsRestored - this._before.rowsRestored;
    this._exact = this._counters.exact ?? Infinity;
  }
}
