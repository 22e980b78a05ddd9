// Errors of reaching a server. Codes are those of the Python client where the case is the same.
import { AppError } from '../common/errors.js';

/** A frame has no answer; the very same bytes may be sent again. */
export class Undelivered extends AppError {
  /**
   * @param {string} code
   * @param {string} reason
   * @param {string} message
   * @param {unknown} [cause]
   */
  constructor(code, reason, message, cause) {
    super(code, message, { retryable: true, cause });
    this.reason = reason;
  }
}

/** No connection came about. */
export class ServerUnreachable extends Undelivered {
  /** @param {string} reason @param {unknown} [cause] */
  constructor(reason, cause) {
    const advice = 'check that it runs and that this device is in its network';
    super('server_unreachable', reason, `cannot reach the server: ${reason}; ${advice}`, cause);
  }
}

/** A connection broke before its answer was whole. */
export class ConnectionLost extends Undelivered {
  /** @param {string} reason @param {unknown} [cause] */
  constructor(reason, cause) {
    const advice = 'check the network and try again';
    super('connection_lost', reason, `the connection was lost: ${reason}; ${advice}`, cause);
  }
}

/** The answer is late: the connection may be dead without a word. */
export class AnswerLate extends ConnectionLost {
  constructor() {
    super('no answer in time');
  }
}

/** The server, something before it, or the browser does not let a WebSocket through. */
export class UpgradeRefused extends Undelivered {
  /** @param {string} reason */
  constructor(reason) {
    super('upgrade_refused', reason, `no WebSocket here: ${reason}; choose HTTP in the settings`);
  }
}

/** A bearer token that no request can carry; the message does not show it. */
export class TokenInvalid extends AppError {
  constructor() {
    super('token_invalid', 'this is not a token: tokens are printable ASCII without spaces; pair again');
  }
}

/** The server answered with an error; `code` is the server's. */
export class ServerRefused extends AppError {
  /**
   * @param {string} code
   * @param {string} message
   * @param {{retryable?: boolean, retryAfter?: number | null, cause?: unknown}} [options] seconds
   */
  constructor(code, message, { retryable = false, retryAfter = null, cause } = {}) {
    super(code, message, { retryable, cause });
    this.retryAfter = retryAfter;
  }
}

/** Another model answers at this address than the one whose ends the device holds. */
export class ModelChanged extends ServerRefused {
  /** @param {unknown} [cause] */
  constructor(cause) {
    super('model_changed', 'the server serves another model now; reload to fetch its weights', { cause });
  }
}

/** An answer with neither a frame nor a refusal that a split server would send. */
export class NotASplitServer extends ServerRefused {
  /** @param {number} status of HTTP */
  constructor(status) {
    super('not_a_split_server', `HTTP status ${status} without a frame: this is not a split server; check the URL`);
    this.status = status;
  }
}

/** The server's owner has taken this device's access away. */
export class DeviceRevoked extends ServerRefused {
  constructor() {
    super('device_revoked', 'this device was revoked; pair this browser again');
  }
}

/** The caller asked to stop. */
export class Cancelled extends AppError {
  constructor() {
    super('cancelled', 'stopped on request');
  }
}

/** More exchanges wait for the connection than anything of this app asks for. */
export class ChannelBusy extends AppError {
  constructor() {
    super('channel_busy', 'too much waits for the server already; try again later', { retryable: true });
  }
}
