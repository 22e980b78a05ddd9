// Checks of a server's answers on the device before it uses them: a server is not trusted.
import { MalformedMessage, OtherDtype, WireModelChanged, WrongHiddenSize, WrongShape } from './errors.js';
import { returned } from './steps/returned.js';

/** @typedef {import('../../types/gatelink.js').DType} DType */
/** @typedef {import('./messages.js').Opened} Opened */
/** @typedef {import('./messages.js').Result} Result */
/** @typedef {import('./messages.js').Step} Step */

/**
 * @param {Opened} opened
 * @param {string} manifest digest that was asked for
 * @param {DType | null} dtype that was asked for
 * @throws {WireModelChanged | MalformedMessage | OtherDtype}
 */
export function checkOpened(opened, manifest, dtype) {
  if (opened.manifest !== manifest) throw new WireModelChanged();
  if (opened.maxRows < 1 || opened.maxContext < 1) {
    throw new MalformedMessage('the limits of a session must be at least 1');
  }
  if (dtype !== null && opened.dtype !== dtype) throw new OtherDtype(dtype, opened.dtype);
}

/**
 * The hidden states of the result of `step`.
 * @param {Result} result
 * @param {Step} step
 * @param {number} hiddenSize
 * @returns {Float32Array} [rows asked for, H]
 * @throws {WrongHiddenSize | WrongShape | MalformedMessage | import('./errors.js').NonFinite}
 */
export function checkedHidden({ hidden, cached }, step, hiddenSize) {
  const wanted = returned(step.rows, step.embeddings.rows);
  if (hidden.width !== hiddenSize) throw new WrongHiddenSize(hidden.width, hiddenSize);
  if (hidden.rows !== wanted) {
    throw new WrongShape([hidden.rows, hidden.width], `[${wanted}, ${hiddenSize}]`);
  }
  if (cached !== step.start + step.embeddings.rows) {
    throw new MalformedMessage("'cached' is not the number of positions sent");
  }
  hidden.requireFinite();
  return hidden.toF32();
}
