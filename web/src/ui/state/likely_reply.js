import { signal } from '@preact/signals';

/** @typedef {import('../../engine/messages.js').ReplyToken} ReplyToken */
/** @typedef {import('../../engine/messages.js').Alternative} Alternative */

// Of a longer reply the last ones are shown, as in the terminal, where more would be drawn than is read.
export const MOST_SHOWN = 2000;

/** The tokens of one reply with their probabilities, which come a few at a time. */
export class LikelyReply {
  /**
   * @param {Pick<import('../../engine/client.js').EngineClient, 'tokens' | 'alternatives'>} engine
   * @param {string} answer its name in the engine
   */
  constructor(engine, answer) {
    this._engine = engine;
    this._answer = answer;
    this._loading = false;
    /** From the first one that is shown. @type {import('@preact/signals').Signal<ReplyToken[]>} */
    this.tokens = signal([]);
    /** Number of the first one that is shown. */
    this.first = 0;
    /** Tokens of the whole reply; null: nothing is known yet. @type {import('@preact/signals').Signal<number | null>} */
    this.count = signal(null);
    /** Whether the engine has nothing of this reply any more. */
    this.gone = signal(false);
    /** Number of the token that is chosen. @type {import('@preact/signals').Signal<number | null>} */
    this.chosen = signal(null);
    /** Of the chosen one, once they are here; null: not kept. @type {import('@preact/signals').Signal<{of: number, list: Alternative[] | null} | null>} */
    this.alternatives = signal(null);
  }

  /** Whether all is here. */
  get whole() {
    return this.count.value !== null && this.first + this.tokens.value.length >= this.count.value;
  }

  /** @param {number} at @returns {ReplyToken | undefined} */
  tokenAt(at) {
    return this.tokens.value[at - this.first];
  }

  /** Takes in all that is missing, as long as `wanted`. @param {() => boolean} wanted */
  async load(wanted) {
    if (this._loading) return;
    this._loading = true;
    while (!this.whole && !this.gone.value && wanted()) await this._more();
    this._loading = false;
  }

  /** @param {number} at */
  async choose(at) {
    this.chosen.value = at;
    const list = await this._asked(() => this._engine.alternatives(this._answer, at));
    // Another one was chosen meanwhile.
    if (this.chosen.value === at) this.alternatives.value = { of: at, list };
  }

  /** The most surprising of those that are known, the least likely first. @param {number} most @returns {number[]} */
  surprises(most) {
    const known = this.tokens.value
      .map((token, index) => ({ at: this.first + index, ...token }))
      .filter(({ logprob, control }) => logprob !== null && !control);
    known.sort((a, b) => /** @type {number} */ (a.logprob) - /** @type {number} */ (b.logprob));
    return known.slice(0, most).map(({ at }) => at);
  }

  async _more() {
    const from = this.first + this.tokens.value.length;
    const told = await this._asked(() => this._engine.tokens(this._answer, from));
    if (!told || (told.count > from && !told.tokens.length)) {
      this.gone.value = true;
      return;
    }
    const skipped = this.count.value === null ? Math.max(0, told.count - MOST_SHOWN) : 0;
    this.count.value = told.count;
    if (skipped) this.first = skipped;
    else this.tokens.value = [...this.tokens.value, ...told.tokens];
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
