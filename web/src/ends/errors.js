import { AppError } from '../common/errors.js';

/** The room's errors; codes of the Python client's tree where the case is the same. */
export class EndsError extends AppError {}

/** @param {string} reason */
export const invalidHiddenState = (reason) =>
  new EndsError('invalid_hidden_state', `hidden state refused: ${reason}`);

/** @param {number} id @param {number} rows */
export const tokenIdOutOfRange = (id, rows) =>
  new EndsError('token_id_out_of_range', `token id ${id} is outside 0..${rows - 1}`);

/** @param {number} id */
export const nonFiniteLogits = (id) =>
  new EndsError('non_finite_logits', `the logit of token ${id} is not a finite float32`);

/** @param {number} row */
export const weightsNotFinite = (row) =>
  new EndsError(
    'weights_not_finite',
    `weight row ${row} holds NaN or infinity; the checkpoint is damaged`,
  );

/** @param {string} reason */
export const weightsSizeMismatch = (reason) =>
  new EndsError('weights_size_mismatch', `${reason}; pull the model again`);

/** @param {string} reason */
export const invalidHeadSpec = (reason) => new EndsError('invalid_head_spec', `LM head refused: ${reason}`);

/** @param {string} reason */
export const kernelUnavailable = (reason) =>
  new EndsError('kernel_unavailable', `this browser cannot run the LM head: ${reason}`);

/** @param {string} reason @param {unknown} [cause] */
export const endsFailed = (reason, cause) =>
  new EndsError('ends_failed', `the model's ends stopped: ${reason}; open them again`, {
    retryable: true,
    cause,
  });
