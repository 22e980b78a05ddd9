import { AppError } from '../common/errors.js';

/** A list of adapters that cannot be believed; nothing of it is used. */
export class AdapterListInvalid extends AppError {
  /** @param {string} reason @param {unknown} [cause] */
  constructor(reason, cause) {
    const message = `the server's list of adapters cannot be used: ${reason}; chat without one`;
    super('adapter_list_invalid', message, { cause });
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
