// A session on a split server whose rows have noise: reopened in the dtype that it began with.
import { OtherDtype } from '../protocol/errors.js';
import { AnswerInvalid } from '../session/errors.js';
import { RemoteBackend } from '../session/remote.js';
import { NoiseDtypeChanged } from './errors.js';

/**
 * The first session's dtype is asked for whenever a session is opened again.
 *
 * The noise of a row depends on its dtype. A server that could choose another one after a lost session would
 * be sent the same rows with independent noise, which it could average.
 */
export class OneDtypeBackend extends RemoteBackend {
  /**
   * As of RemoteBackend.
   * @param {{signal?: AbortSignal}} [options]
   * @throws {NoiseDtypeChanged | import('../common/errors.js').AppError} the latter: as RemoteBackend
   */
  async open(options) {
    try {
      await super.open(options);
    } catch (error) {
      const cause = error instanceof AnswerInvalid ? error.cause : null;
      throw cause instanceof OtherDtype ? new NoiseDtypeChanged(cause.asked, cause.given) : error;
    }
    this._protocol.askFor(this.dtype);
  }
}
