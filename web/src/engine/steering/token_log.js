// The tokens of one reply, and the states that they were chosen from. What else could have come is computed from
// those when somebody asks, so that a token costs a copy of its state and no byte travels.

/**
 * A token and the state [H] that it was chosen from; null where the form left no choice, and where it is not kept
 * (any more).
 * @typedef {{token: number, state: Float32Array | null}} Kept
 */

export class TokenLog {
  /** @param {readonly Kept[]} [begun] tokens that are there before */
  constructor(begun = []) {
    /** @type {Kept[]} */
    this.kept = [];
    /** Of the states. */
    this.bytes = 0;
    this._oldest = 0;
    for (const { token, state } of begun) this.take(token, state);
  }

  /** @param {number} token that was chosen from `state`, which the caller may use again @param {Float32Array | null} state */
  take(token, state) {
    // A view would hold all of the step that brought it.
    const own = state && state.slice();
    this.kept.push({ token, state: own });
    this.bytes += own?.byteLength ?? 0;
  }

  /** Gives up states, the oldest first, until they have so many bytes. @param {number} most */
  shrink(most) {
    for (; this.bytes > most; this._oldest += 1) {
      const { token, state } = this.kept[this._oldest];
      if (state === null) continue;
      this.bytes -= state.byteLength;
      this.kept[this._oldest] = { token, state: null };
    }
  }
}
