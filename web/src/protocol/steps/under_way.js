// The steps of one session whose answers are awaited, in the order in which they were sent.
//
// A server answers the frames of a connection in order, and the number and the digests of a step are known before the
// one in front of it is answered: so several may be under way.

/** Steps that are under way at most. */
export const MOST_UNDER_WAY = 4;

/** @typedef {import('../messages.js').Step} Step */
/** @typedef {import('../messages.js').Failure} Failure */
/** @typedef {import('../digest.js').PrefixChain} PrefixChain */
/**
 * `digests`: after each of its rows, null until they are needed. `refused`: what the server said of it, if a later
 * step has taken its place there.
 * @typedef {{step: Step, frame: Uint8Array, digests: Uint8Array[] | null, refused: Failure | null}} Sent
 */

export class UnderWay {
  /** @param {PrefixChain} chain of what is held before the first of them */
  constructor(chain) {
    this._chain = chain;
    /** @type {Sent[]} */
    this._sent = [];
  }

  get length() {
    return this._sent.length;
  }

  /** Of those that are to be answered still. @returns {Uint8Array[]} */
  get frames() {
    return this._sent.flatMap(({ frame, refused }) => (refused ? [] : [frame]));
  }

  /** The one whose answer comes next. @returns {Sent | null} */
  get next() {
    return this._sent.find(({ refused }) => refused === null) ?? null;
  }

  /** Positions that are held once all of them are appended. */
  get end() {
    const last = this._sent.at(-1);
    return last ? last.step.start + last.step.embeddings.rows : this._chain.length;
  }

  /** @param {Step} step @param {Uint8Array} frame */
  add(step, frame) {
    this._sent.push({ step, frame, digests: null, refused: null });
  }

  /**
   * The digest of the first `position` rows once all of them are appended.
   * @param {number} position at most `end`
   */
  at(position) {
    return this._at(position, this._sent.length);
  }

  /** After each row of the last of them. @returns {Uint8Array[]} */
  digests() {
    return this._sent.length ? this._digestsOf(this._sent.length - 1) : [];
  }

  /**
   * The step with this number, if it may be answered now: its place, and the digests after its rows.
   * @param {number} number
   * @returns {{sent: Sent, digests: Uint8Array[], early: boolean} | null} early: others are to be answered before it
   */
  find(number) {
    const place = this._sent.findIndex(({ step }) => step.step === number);
    if (place < 0) return null;
    const early = this._sent.slice(0, place).some(({ refused }) => refused === null);
    return { sent: this._sent[place], digests: this._digestsOf(place), early };
  }

  /**
   * The server has appended `sent` and what is before it.
   * @param {Sent} sent
   * @returns {number} how many that were
   */
  settle(sent) {
    const count = this._sent.indexOf(sent) + 1;
    for (let place = 0; place < count; place++) {
      this._chain.replace(this._sent[place].step.start, this._digestsOf(place));
    }
    this._sent = this._sent.slice(count);
    return count;
  }

  /**
   * Takes `failure` as the answer to the next of them, if a later one may have taken its place at the server: that
   * keeps its latest answer alone.
   * @param {Failure} failure
   */
  defer(failure) {
    const { next } = this;
    if (failure.code !== 'step_conflict' || next === null || next === this._sent.at(-1)) return false;
    next.refused = failure;
    return true;
  }

  /** What the server said of the first of them, if it was not the answer. @returns {Failure | null} */
  get refused() {
    return this._sent[0]?.refused ?? null;
  }

  /** @param {number} place @returns {Uint8Array[]} */
  _digestsOf(place) {
    const sent = this._sent[place];
    const { start, embeddings } = sent.step;
    sent.digests ??= this._chain.following(start, embeddings, this._at(start, place));
    return sent.digests;
  }

  /** As `at`, of the first `count` of them. @param {number} position @param {number} count */
  _at(position, count) {
    for (let place = count - 1; place >= 0; place--) {
      const { start } = this._sent[place].step;
      if (position > start) return this._digestsOf(place)[position - start - 1];
    }
    return this._chain.at(position);
  }
}
