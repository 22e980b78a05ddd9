// Errors of forms; codes are those of the Python client where it has the same.
import { AppError } from '../common/errors.js';

const MAX_REASON = 300;

/** A form that cannot be enforced; `reason` says why, `path` where, as a JSON pointer. */
export class FormInvalid extends AppError {
  /** @param {string} reason @param {{code?: string, path?: string | null}} [about] */
  constructor(reason, { code = 'form_invalid', path = null } = {}) {
    const where = path === null ? '' : ` (at ${path || 'the root'})`;
    super(code, `the form of replies is refused: ${reason.slice(0, MAX_REASON)}${where.slice(0, MAX_REASON)}`);
    this.path = path;
  }
}

/** A JSON schema that cannot be enforced. */
export class SchemaInvalid extends FormInvalid {
  /** @param {string} reason @param {string | null} path */
  constructor(reason, path) {
    super(reason, { code: 'invalid_schema', path });
  }
}

/** No text has the form. */
export class FormImpossible extends FormInvalid {
  constructor() {
    super('no text meets it', { code: 'form_impossible' });
  }
}

/** Texts of the form have no end. */
export class FormEndless extends FormInvalid {
  constructor() {
    super('no text of it ever ends', { code: 'form_endless' });
  }
}

/** It needs more states or time than a form may. */
export class FormTooCostly extends FormInvalid {
  /** @param {string} reason */
  constructor(reason) {
    super(`it costs too much: ${reason}; make it simpler`, { code: 'form_too_costly' });
  }
}

/** This model has no tokens to go on with. */
export class FormUnwritable extends FormInvalid {
  constructor() {
    super("the model's vocabulary cannot write it", { code: 'form_unwritable' });
  }
}

/** The part that follows forms has died, or took too long. */
export class FormFailed extends AppError {
  /** @param {string} reason */
  constructor(reason) {
    super('form_failed', `the part that keeps replies to a form stopped (${reason}); ask again, or simplify the form`, {
      retryable: true,
    });
  }
}
