import { AppError } from '../common/errors.js';

/** A sampling parameter outside its range; `allowed` is the range in words. */
export class InvalidSamplingParameter extends AppError {
  /** @param {string} field snake_case @param {unknown} value @param {string} allowed */
  constructor(field, value, allowed) {
    super('invalid_sampling_parameter', `${field} = ${shown(value)} is not allowed; ${field} is ${allowed}`);
    this.field = field;
    this.allowed = allowed;
  }
}

/** A token id without a row. */
export class TokenIdOutOfRange extends AppError {
  /** @param {number} token @param {number} rows */
  constructor(token, rows) {
    super('token_id_out_of_range', `token id ${token} is outside 0..${rows - 1}`);
    this.token = token;
  }
}

/** Every token is banned, or outside what a constraint allows. */
export class NothingAllowed extends AppError {
  constructor() {
    super('nothing_allowed', 'no token may follow: all are banned or outside the constraint; ban fewer tokens');
  }
}

/** An embedding that is not finite in the format it travels in. */
export class NotRepresentable extends AppError {
  /** @param {number} token @param {string} dtype */
  constructor(token, dtype) {
    super('not_representable', `the embedding of token ${token} overflows ${dtype}; use a wider wire dtype`);
    this.token = token;
  }
}

/** A dtype that is not f32, bf16 or f16. */
export class UnknownFloat extends AppError {
  /** @param {unknown} name */
  constructor(name) {
    super('unknown_float', `unknown dtype ${shown(name)}; use f32, bf16 or f16`);
  }
}

/** Bias, cap or scale of a LM head outside their range. */
export class InvalidHeadSpec extends AppError {
  /** @param {string} reason */
  constructor(reason) {
    super('invalid_head_spec', `LM head refused: ${reason}`);
  }
}

/** @param {unknown} value */
function shown(value) {
  if (typeof value === 'string') return JSON.stringify(value.slice(0, 60));
  if (value !== null && typeof value === 'object') return `(${value.constructor?.name ?? 'object'})`;
  return String(value);
}
