// Errors of sessions and sequences; codes are those of the Python client.
import { AppError } from '../common/errors.js';

/** The server no longer holds the prefix: send every row again, from start 0. */
export class CacheLost extends AppError {
  /** @param {unknown} [cause] */
  constructor(cause) {
    super('cache_lost', 'the server no longer holds this conversation; it is sent again', {
      retryable: true,
      cause,
    });
  }
}

/** The server's answer breaks the protocol (wrong shape, NaN, cut frame) and is not used. */
export class AnswerInvalid extends AppError {
  /** @param {AppError} error what is wrong with it */
  constructor(error) {
    super(
      'answer_invalid',
      `the server's answer cannot be used: ${error.message} (${error.code}); ` +
        'update both ends, or use another server',
      { cause: error },
    );
    this.causeCode = error.code;
  }
}

/** The server loses what it was just sent, again and again. */
export class SessionUnstable extends AppError {
  constructor() {
    super(
      'session_unstable',
      'the server keeps losing this session; try again later, or raise its memory budget',
    );
  }
}

/** The server did not say that it deleted what it keeps. */
export class NotForgotten extends AppError {
  constructor() {
    super(
      'not_forgotten',
      'the server did not confirm that it deleted what it keeps of this chat; try again, or wait: unused, it goes by itself',
    );
  }
}

/** The prompt leaves no room for a reply. */
export class PromptTooLong extends AppError {
  /** @param {number} tokens @param {number} limit tokens */
  constructor(tokens, limit) {
    super(
      'prompt_too_long',
      `the prompt has ${tokens} tokens and the model takes ${limit}; shorten it, or start a new chat`,
    );
    this.tokens = tokens;
    this.limit = limit;
  }
}
