/** Errors of pairing: why this browser is not paired. */
import { AppError } from '../common/errors.js';

/** The server refused: `code` and message are its own (docs/protocol.md). */
export class PairingRefused extends AppError {}

/** The server did not give a token. */
export class PairingFailed extends AppError {
  /** @param {string} message */
  constructor(message) {
    super('pairing_failed', message);
  }
}

/** The browser keeps nothing of this page: blocked or full site data. */
export class TokenNotKept extends AppError {
  /** @param {unknown} cause */
  constructor(cause) {
    super('token_not_kept', 'this browser keeps nothing of this page; allow it site data and pair again', {
      cause,
    });
  }
}
