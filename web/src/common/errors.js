/** The root of the app's typed errors: a stable code, and a message that says what to do. */
export class AppError extends Error {
  /**
   * @param {string} code small letters, digits and _
   * @param {string} message for people
   * @param {{retryable?: boolean, cause?: unknown}} [options]
   */
  constructor(code, message, options = {}) {
    super(message, { cause: options.cause });
    this.name = 'AppError';
    this.code = code;
    this.retryable = options.retryable ?? false;
  }
}

/** Nothing answers, or the browser does not let the request through. */
export class ServerUnreachable extends AppError {
  /** @param {unknown} [cause] */
  constructor(cause) {
    super('server_unreachable', 'the server does not answer; is it running, and is this the same network?', {
      retryable: true,
      cause,
    });
  }
}

/** Nothing to continue from. */
export class PromptEmpty extends AppError {
  constructor() {
    super('prompt_empty', 'write a message first');
  }
}

/** A part of the app that is loaded when it is needed cannot be had: offline, or the app is another one by now. */
export class PartMissing extends AppError {
  /** @param {unknown} cause */
  constructor(cause) {
    super('part_missing', 'a part of this page cannot be loaded; reload the page', { retryable: true, cause });
  }
}

/**
 * What crosses from a worker to a page.
 * @param {unknown} error
 * @returns {{code: string, message: string, retryable: boolean}}
 */
export function describeError(error) {
  if (error instanceof AppError) {
    return { code: error.code, message: error.message, retryable: error.retryable };
  }
  return { code: 'internal_error', message: 'something failed that should not; reload the page', retryable: false };
}
