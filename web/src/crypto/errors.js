// Errors of encrypted adapters. Codes are those of the Python client; none of them lets a reply go on without the
// adapter that was asked for.
import { AppError } from '../common/errors.js';

// What a host may say of a query. Anything else that it says means nothing to the page, which acts on some codes.
const CODES = new Set([
  'budget_exhausted', 'key_conflict', 'key_missing', 'length_required', 'malformed_ciphertext', 'malformed_key',
  'overloaded', 'query_conflict', 'shutting_down', 'too_many_sessions', 'unknown_adapter', 'unknown_session',
  'worker_lost', 'workers_spent', 'wrong_length',
]);

/** No answer of the host within the time allowed, or none that the browser hands over. */
export class AdapterHostUnreachable extends AppError {
  /** @param {string} host its origin @param {string} reason @param {unknown} [cause] */
  constructor(host, reason, cause) {
    const page = globalThis.location?.origin ?? 'the address of this page';
    super(
      'adapter_host_unreachable',
      `cannot reach the adapter host ${host}: ${reason}; the reply stops, because it would go on without its adapter: ` +
        `is the host running, with --allow-origin ${page}, and does this browser trust its certificate? ` +
        'Or choose no adapter',
      { cause },
    );
  }
}

/** The host answered with an error, whose code is in `refusal`. */
export class AdapterHostRefused extends AppError {
  /** @param {string} code @param {string} message */
  constructor(code, message) {
    const stranger = code === 'unauthorized' || code === 'device_revoked';
    const own = CODES.has(code) ? code : 'adapter_host_refused';
    const asked = 'a valid token is needed: pair this browser with the host, in the settings of the chat';
    super(stranger ? 'adapter_host_unauthorized' : own, `the adapter host refuses: ${stranger ? asked : message}`);
    this.refusal = code;
  }
}

/** An answer of the wrong form, size or value. */
export class AdapterHostInvalid extends AppError {
  /** @param {string} reason @param {unknown} [cause] */
  constructor(reason, cause) {
    const advice = 'update both ends, or use another';
    super('adapter_host_invalid', `the adapter host's answer cannot be used: ${reason}; ${advice}`, { cause });
  }
}

/** The host loses what it was just sent, again and again. */
export class AdapterHostUnstable extends AppError {
  constructor() {
    super('adapter_host_unstable', 'the adapter host keeps losing its sessions; try again later');
  }
}

/** A hidden state beyond what the host promised to compute with. */
export class AdapterOutOfRange extends AppError {
  /** @param {number} norm @param {number} bound */
  constructor(norm, bound) {
    super(
      'adapter_out_of_range',
      `the hidden state has norm ${norm.toPrecision(6)}, the scales hold up to ${bound.toPrecision(6)}; the reply stops ` +
        "here: the host's operator can raise --activation-rms, which this page takes up when it is loaded again",
    );
  }
}

/** What makes the keys does not run here. */
export class EncryptionUnavailable extends AppError {
  /** @param {string} reason @param {unknown} [cause] */
  constructor(reason, cause) {
    super('encryption_unavailable', `nothing can be encrypted here: ${reason}; reload the page`, { cause });
  }
}

/** The server of this page does not name the host, so the browser lets no request through to it. */
export class AdapterHostNotNamed extends AppError {
  /** @param {string} host its origin */
  constructor(host) {
    super(
      'adapter_host_not_named',
      `this server does not name the adapter host ${host}: its operator can, with --adapter-origin ${host}; ` +
        'or choose another adapter',
    );
  }
}

/** Bytes that are not exactly what the packing prescribes. */
export class Malformed extends AppError {
  /** @param {string} reason */
  constructor(reason) {
    super('malformed_ciphertext', `malformed ciphertext: ${reason}`);
  }
}
