// Errors of the tokenizer and the chat template; codes are those of the Python client.
import { AppError } from '../common/errors.js';

/** The tokenizer file cannot be used, or not exactly. */
export class TokenizerInvalid extends AppError {
  /** @param {string} reason */
  constructor(reason) {
    super('tokenizer_invalid', `the model's tokenizer cannot be used: ${reason}`);
  }
}

/** The chat template is broken, or refuses these messages. */
export class TemplateFailed extends AppError {
  /** @param {string} reason */
  constructor(reason) {
    super('template_failed', `the model's chat template failed: ${reason}; check the roles of the messages`);
  }
}

/** The chat template outgrew its limits of time or size and was stopped. */
export class TemplateTooCostly extends AppError {
  /** @param {string} reason */
  constructor(reason) {
    super(
      'template_too_costly',
      `the model's chat template was stopped: ${reason}; do not trust this server's model`,
    );
  }
}

/** A text that no model's context holds. */
export class PromptTooLong extends AppError {
  /** @param {number} length @param {number} limit UTF-16 units */
  constructor(length, limit) {
    super('prompt_too_long', `the prompt has ${length} characters and the limit is ${limit}; shorten it`);
  }
}

/** A text that is none of any language, and would take too long. */
export class TextRefused extends AppError {
  /** @param {string} reason */
  constructor(reason) {
    super('text_refused', `the text cannot be used: it has ${reason}; remove them`);
  }
}
