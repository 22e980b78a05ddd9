import { PartMissing } from '../../common/errors.js';

/** @typedef {import('../../../types/gatelink').Form} Form */
/** @typedef {import('../../grammar/forms.js').Forms} Forms */

/** The forms that a model's replies are asked for in; nothing of it is loaded before the first. */
export class ModelForms {
  /**
   * @param {import('../../text/tokenizer/tokenizer.js').ModelTokenizer} tokenizer
   * @param {{rows: number, eos: number[], spawn?: () => import('../../grammar/forms.js').FormWorker}} about
   *   rows of the LM head
   */
  constructor(tokenizer, about) {
    this._tokenizer = tokenizer;
    this._about = about;
    /** @type {Promise<Forms> | null} */
    this._forms = null;
  }

  /**
   * The constraint of one reply; null: it is free.
   * @param {Form | null | undefined} form
   * @returns {Promise<import('../../grammar/forms.js').FormConstraint | null>} rejects with PartMissing and the errors of forms
   */
  async constraint(form) {
    if (!form) return null;
    this._forms ??= this._opened().catch((error) => {
      this._forms = null;
      throw new PartMissing(error);
    });
    return (await this._forms).begin(form);
  }

  async close() {
    (await this._forms?.catch(() => null))?.close();
  }

  async _opened() {
    const { Forms, tokenBytes } = await import('./forms_part.js');
    const { rows, eos, spawn } = this._about;
    const vocabulary = () => ({ ...tokenBytes(this._tokenizer, rows), eos });
    return new Forms({ vocabulary, encode: (text) => this._tokenizer.encode(text), spawn });
  }
}
