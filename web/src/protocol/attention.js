// The attention fields of steps and results (docs/protocol.md, "Attention"), as they travel. What
// was asked for is checked against the answer by whoever asks.
import { MalformedMessage } from './errors.js';
import { Fields } from './fields.js';
import { LARGEST_HEADS, LARGEST_LAYERS, MAX_TOP_K } from './limits.js';

/** @typedef {import('./tensor.js').Tensor} Tensor */
/**
 * @typedef {object} AttentionRequest which rows a step returns
 * @property {'all' | 'mean' | 'max'} heads every head, or their mean or maximum
 * @property {number} topK the largest weights of each row; 0: all positions
 * @property {'f32' | 'f16'} dtype
 */
/**
 * @typedef {object} AttentionRows
 * @property {number} layers
 * @property {number} heads rows of one layer
 * @property {Tensor} values [layers * heads, width]
 * @property {Tensor | null} positions i32 of the same shape, with a top-k
 */

/**
 * Reads the field of a step.
 * @param {unknown} value
 * @returns {AttentionRequest | null}
 * @throws {MalformedMessage}
 */
export function requestField(value) {
  if (value === null || value === false) return null;
  if (value !== true && !(value instanceof Map)) {
    throw new MalformedMessage("'attention' must be true, false or a map");
  }
  const fields = new Fields(value === true ? new Map() : value);
  return {
    heads: oneOf('heads', fields.optionalText('heads') ?? 'all', ['all', 'mean', 'max']),
    topK: fields.optionalCount('top_k', MAX_TOP_K),
    dtype: oneOf('dtype', fields.optionalText('dtype') ?? 'f32', ['f32', 'f16']),
  };
}

/**
 * The field of a step that asks for `request`; defaults are left out.
 * @param {AttentionRequest | null} request
 * @returns {boolean | Record<string, string | number>}
 */
export function requestValue(request) {
  if (request === null) return false;
  const given = Object.entries({ heads: request.heads, top_k: request.topK, dtype: request.dtype });
  const kept = given.filter(([, value]) => value !== 'all' && value !== 0 && value !== 'f32');
  return kept.length === 0 || Object.fromEntries(kept);
}

/**
 * Reads the attention of a result: its header field and its tensors.
 * @param {unknown} value
 * @param {Map<string, Tensor>} tensors
 * @returns {AttentionRows | null}
 * @throws {MalformedMessage}
 */
export function rowsField(value, tensors) {
  if (value === null) return null;
  if (!(value instanceof Map)) throw new MalformedMessage("'attention' must be a map");
  const fields = new Fields(value);
  const values = tensors.get('attention');
  const positions = tensors.get('attention_positions') ?? null;
  if (!values) throw new MalformedMessage("the tensor 'attention' is missing");
  if (positions !== null && positions.dtype !== 'i32') {
    throw new MalformedMessage("the tensor 'attention_positions' is of i32");
  }
  const layers = fields.count('layers', LARGEST_LAYERS);
  return { layers, heads: fields.count('heads', LARGEST_HEADS), values, positions };
}

/**
 * The tensors that carry `rows`, by name.
 * @param {AttentionRows} rows
 * @returns {Record<string, Tensor>}
 */
export function rowsTensors(rows) {
  if (rows.positions === null) return { attention: rows.values };
  return { attention: rows.values, attention_positions: rows.positions };
}

/**
 * @template {string} T
 * @param {string} name @param {string} value @param {T[]} known
 * @returns {T}
 */
function oneOf(name, value, known) {
  const found = known.find((each) => each === value);
  if (found === undefined) throw new MalformedMessage(`'${name}' of attention is not ${known.join(', ')}`);
  return found;
}
