import { AppError } from '../common/errors.js';

/** There is no preset of this name. */
export class PresetUnknown extends AppError {
  /** @param {string} name @param {readonly string[]} known */
  constructor(name, known) {
    super('preset_unknown', `there is no preset @${name.slice(0, 60)}; there are: ${known.join(', ')}`);
  }
}
