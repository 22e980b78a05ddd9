import { describeError, PartMissing } from '../../common/errors.js';
import { formWish } from '../../settings/form.js';

/** @typedef {import('../../../types/gatelink').FormChoice} FormChoice */
/** @typedef {Pick<import('../../grammar/forms.js').Forms, 'check' | 'close'>} Checking */

/** Tells whether forms can be enforced; what reads them is loaded with the first, in a worker of its own. */
export class FormCheck {
  /** @param {() => Promise<Checking>} [open] */
  constructor(open = async () => new (await import('../../grammar/forms.js')).Forms()) {
    this._open = open;
    /** @type {Promise<Checking> | null} */
    this._checking = null;
  }

  /** @param {FormChoice} choice @returns {Promise<string | null>} why it is refused, null: it is not */
  async problem(choice) {
    const form = formWish(choice);
    if (!form) return null;
    try {
      this._checking ??= this._open();
      await (await this._checking.catch(missing)).check(form);
      return null;
    } catch (error) {
      if (error instanceof PartMissing) this._checking = null;
      return describeError(error).message;
    }
  }

  /** Ends its worker. */
  close() {
    void this._checking?.then((checking) => checking.close(), () => {});
    this._checking = null;
  }
}

/** @param {unknown} cause @returns {never} */
function missing(cause) {
  throw new PartMissing(cause);
}
