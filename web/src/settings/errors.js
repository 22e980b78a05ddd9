import { AppError } from '../common/errors.js';

/** A value that a setting may not have; nothing was changed. */
export class SettingInvalid extends AppError {
  /** @param {string} name */
  constructor(name) {
    super('setting_invalid', `'${name.slice(0, 40)}' cannot be set to that`);
  }
}
