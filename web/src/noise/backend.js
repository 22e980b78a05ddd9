// A session on a split server whose rows have noise: reopened in the dtype that it began with.
//
// It knows no other file of this room: what it extends is in the engine from the beginning, the rest is
// loaded when a chat first has noise.
import { OtherDtype } from '../protocol/errors.js';
import { AnswerInvalid } from '../session/errors.js';
import { RemoteBackend } from '../session/remote.js';

/** @typedef {import('../common/errors.js').AppError} AppError */

/**
 * The first session's dtype is asked for whenever a session is opened again.
 *
 * The noise of a row depends on its dtype. A server that could choose another one after a lost session would
 * be sent the same rows with independent noise, which it could average.
 */
export class OneDtypeBackend extends RemoteBackend {
  /**
   * @param {import('../transport/channel.js').Channel} channel
   * @param {ConstructorParameters<typeof RemoteBackend>[1]} options
   * @param {(began: string, wanted: string) => AppError} otherDtype what a server that insists is refused
   * with
   */
  constructor(channel, options, otherDtype) {
    super(channel, options);
    this._otherDtype = otherDtype;
  }

  /**
   * As of RemoteBackend.
   * @param {Parameters<RemoteBackend['open']>[0]} [options]
   * @returns {Promise<number | null>}
   * @throws {AppError} as RemoteBackend, and `otherDtype`
   */
  async open(options) {
    try {
      return await super.open(options);
    } catch (error) {
      const cause = error instanceof AnswerInvalid ? error.cause : null;
      throw cause instanceof OtherDtype ? this._otherDtype(cause.asked, cause.given) : error;
    } finally {
      if (this.dtype) this._protocol.askFor(this.dtype);
    }
  }

  /** One step after the other: a noised row leaves when what is before it has arrived. */
  _way() {
    return { ...super._way(), several: () => false };
  }
}
