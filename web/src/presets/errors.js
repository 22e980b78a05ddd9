import { AppError } from '../common/errors.js';

/** There is no preset of this name. */
export class PresetUnknown extends AppError {
  /** @param {string} name @param {readonly string[]} known */
  constructor(name, known) {
    super('preset_unknown', `there is no preset @${name.slice(0, 60)}; there are: ${known.join(', ')}`);
  }
}

/** A name that a preset cannot have. */
export class PresetNameInvalid extends AppError {
  /** @param {string} name */
  constructor(name) {
    super('preset_name_invalid', `“${name.slice(0, 60)}” cannot be the name of a preset: 1 to 40 of a-z, 0-9, - and _`);
  }
}

/** One's own presets are not lost for new ones. */
export class PresetExists extends AppError {
  /** @param {string} name */
  constructor(name) {
    super('preset_exists', `there is a preset @${name} with another text; choose another name, or delete it first`);
  }
}

/** A preset cannot be kept. */
export class PresetFailed extends AppError {
  /** @param {string} why @param {unknown} [cause] */
  constructor(why, cause) {
    super('preset_failed', why, { cause });
  }
}
