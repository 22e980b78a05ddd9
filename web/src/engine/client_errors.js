// Errors that the page itself finds; the worker knows none of them.
import { AppError } from '../common/errors.js';

/** The engine worker cannot be started or has died, as when the browser runs out of memory. */
export class EngineFailed extends AppError {
  constructor() {
    super('engine_failed', 'the part that runs the model stopped, perhaps for want of memory; reload the page');
  }
}

/** The tokenizer took too long for a text; its patterns came with the model. */
export class TextTooCostly extends AppError {
  constructor() {
    super('text_too_costly', "the model's tokenizer was stopped at this text; reload the page and shorten it");
  }
}
