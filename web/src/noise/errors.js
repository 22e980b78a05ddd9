// Errors of noised mode; codes are those of split_client.noise.errors and split_privacy.errors.
import { AppError } from '../common/errors.js';
import { plainNumber } from './numbers.js';

/** A number for which no guarantee is defined. */
export class InvalidPrivacyParameter extends AppError {
  /** @param {string} field @param {unknown} value @param {string} allowed */
  constructor(field, value, allowed) {
    super('invalid_privacy_parameter', `${field} = ${value} is not allowed; ${field} is ${allowed}`);
  }
}

/** Something that noise cannot be bound to; the message never shows the key. */
export class InvalidDerivation extends AppError {
  /** @param {string} reason */
  constructor(reason) {
    super('invalid_derivation', `no noise can be derived: ${reason}`);
  }
}

/** A setting with which no noise can be made. */
export class NoiseSettingInvalid extends AppError {
  /** @param {string} message */
  constructor(message) {
    super('noise_setting_invalid', message);
  }
}

/** Something asked for that would undo what the noise promises. */
export class NoiseForbids extends AppError {
  /** @param {string} what @param {string} reason @param {string} instead what to do */
  constructor(what, reason, instead) {
    super('noise_forbids', `${what} cannot go with noise: ${reason}; ${instead}`);
  }
}

/** Noise so large that the wire's dtype cannot hold it. */
export class NoiseOverflows extends AppError {
  /** @param {number} sigma @param {string} dtype */
  constructor(sigma, dtype) {
    super(
      'noise_overflows',
      `rows with noise of sigma ${plainNumber(sigma)} overflow ${dtype}, in which this server takes them; ` +
        'use less noise, or a server that computes in another dtype',
    );
  }
}

/** A server that wants a chat's rows in another dtype as well. Nothing was sent. */
export class NoiseDtypeChanged extends AppError {
  /** @param {string} began the dtype of the chat @param {string} wanted the server's */
  constructor(began, wanted) {
    super(
      'noise_dtype_changed',
      `this chat is sent as ${began}, and the server now wants ${wanted}; its rows would get a second, ` +
        'independent noise, so none was sent: start a new chat (its rows are released anew and count anew)',
    );
  }
}

/** The release would exceed the budget and was not made. epsilons are those of everything replaced. */
export class BudgetExhausted extends AppError {
  /**
   * @param {{budget: number, spent: number, delta: number, rows: number, room: number}} about `rows`: how
   *   many were asked for, `room`: how many the budget still has room for
   */
  constructor({ budget, spent, delta, rows, room }) {
    const remaining = Math.max(0, budget - spent);
    super(
      'budget_exhausted',
      'the noise budget does not allow this, and no row of it was sent: of epsilon ' +
        `${plainNumber(budget)} (everything replaced, delta ${delta}) ${spent.toFixed(2)} is spent and ` +
        `${remaining.toFixed(2)} remains, room for ${room} of the ${rows} new tokens; write less, use more ` +
        'noise, or accept a larger loss (the budget in the settings)',
    );
    this.rows = rows;
    this.room = room;
  }
}

/** The record of what was spent cannot be trusted. */
export class LedgerDamaged extends AppError {
  /** @param {string} reason */
  constructor(reason) {
    super(
      'ledger_damaged',
      `the noise ledger of this browser cannot be trusted: ${reason}; it is left as it is, and nothing is ` +
        'sent with noise until the data of this site are cleared and the page is loaded again (what it ' +
        'counted is then forgotten, not unspent)',
    );
  }
}

/** Another tab holds the ledger. */
export class LedgerBusy extends AppError {
  constructor() {
    super('ledger_busy', 'another tab holds the noise ledger; try again', { retryable: true });
  }
}

/** The ledger cannot be read or written. */
export class LedgerFailed extends AppError {
  /** @param {string} reason @param {unknown} [cause] */
  constructor(reason, cause) {
    super(
      'ledger_failed',
      `the noise ledger of this browser cannot be used: ${reason}; nothing is sent with noise without it`,
      { cause },
    );
  }
}
