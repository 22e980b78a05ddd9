// Errors of redaction, by the codes that the terminal has.
import { AppError } from '../common/errors.js';

/** A map that was not written by this program, or was changed. */
export class RedactionMapInvalid extends AppError {
  /** @param {string} reason */
  constructor(reason) {
    super('redaction_map_invalid', `the map of surrogates is none: ${reason}; nothing is sent with it. Begin a new chat`);
  }
}

/** No surrogate is left that could stand for a value. */
export class RedactionExhausted extends AppError {
  /** @param {string} kind */
  constructor(kind) {
    super(
      'redaction_exhausted',
      `every surrogate that was tried for a value of the kind '${kind}' occurs in the chat; nothing was sent. ` +
        'Begin a new chat, or change the message',
    );
  }
}

/** A text could not be looked at. */
export class RedactionUnfinished extends AppError {
  /** @param {string} reason */
  constructor(reason) {
    super('redaction_unfinished', `the message was not redacted: ${reason}; nothing was sent. Try again, or leave a part of it out`, {
      retryable: true,
    });
  }
}
