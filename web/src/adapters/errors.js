import { AppError } from '../common/errors.js';

/** A list of adapters that cannot be believed; nothing of it is used. */
export class AdapterListInvalid extends AppError {
  /** @param {string} reason @param {unknown} [cause] */
  constructor(reason, cause) {
    const message = `the server's list of adapters cannot be used: ${reason}; chat without one`;
    super('adapter_list_invalid', message, { cause });
  }
}
