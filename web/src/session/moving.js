// A device that is refused a session goes elsewhere, before it waits.

// Moves that nothing is waited for.
const MOST_MOVES = 3;
const FULL = new Set(['too_many_sessions', 'overloaded', 'cache_full']);

/** One opening of a session. */
export class Moving {
  /**
   * @param {import('../protocol/client.js').ClientProtocol} protocol
   * @param {() => boolean} move has further connections go another way; whether they do
   */
  constructor(protocol, move) {
    this._protocol = protocol;
    this._move = move;
    this._refusals = 0;
  }

  /** Whether the next question says that the device waits for a place. */
  get waits() {
    return this._refusals >= MOST_MOVES;
  }

  /**
   * Whether the question may be asked again at once. Behind the last of those moves it is asked elsewhere too, but
   * after a wait.
   * @param {import('../transport/errors.js').ServerRefused} error
   */
  refused(error) {
    if (!FULL.has(error.code)) return false;
    // Made anew: whether the device waits is a part of it.
    this._protocol.forget();
    this._refusals = this._move() ? this._refusals + 1 : MOST_MOVES + 1;
    return this._refusals <= MOST_MOVES;
  }
}
