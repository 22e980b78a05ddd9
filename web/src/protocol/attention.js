// The attention fields of steps and results (docs/protocol.md, "Attention"), as they travel. What
// was asked for is checked against the answer by whoever asks.
import { AttentionTooLarge, MalformedMessage, Unsupported } from './errors.js';
import { Fields } from './fields.js';
import { LARGEST_ATTENTION_BYTES, LARGEST_HEADS, LARGEST_LAYERS, MAX_TOP_K } from './limits.js';
import { ALIGNMENT, itemSize } from './tensor.js';

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

// A softmax in float32 may end that much above 1.
const LARGEST_WEIGHT = 1 + 1e-5;

/**
 * What this device asks for: of each layer the mean over its heads, at all positions.
 * @type {AttentionRequest}
 */
export const MEAN_ROWS = { heads: 'mean', topK: 0, dtype: 'f32' };

/**
 * Bytes that MEAN_ROWS over `positions` cached ones add to a result, padding included.
 * @param {Pick<import('./messages.js').Opened, 'capabilities' | 'layers' | 'heads'>} opened
 * @param {number} positions
 * @returns {number}
 * @throws {Unsupported | AttentionTooLarge}
 */
export function meanRowsBytes({ capabilities, layers, heads }, positions) {
  if (!capabilities.includes('attention') || !layers || !heads) throw new Unsupported('attention');
  const size = layers * positions * itemSize(MEAN_ROWS.dtype) + 2 * ALIGNMENT;
  if (size > LARGEST_ATTENTION_BYTES) throw new AttentionTooLarge(size, LARGEST_ATTENTION_BYTES);
  return size;
}

/**
 * The answer to MEAN_ROWS of a model with `layers` over `cached` positions.
 * @param {AttentionRows | null} rows
 * @param {number} layers
 * @param {number} cached
 * @returns {Float32Array} [layers, cached]
 * @throws {MalformedMessage} unless the shape is the one asked for and all weights lie within 0 to 1
 */
export function checkedMeanRows(rows, layers, cached) {
  if (rows === null) throw new MalformedMessage('the attention that was asked for is missing');
  const { values, positions } = rows;
  const shape = [rows.layers, rows.heads, values.rows, values.width].join();
  const fits = shape === [layers, 1, layers, cached].join();
  if (!fits || values.dtype !== MEAN_ROWS.dtype || positions !== null) {
    throw new MalformedMessage('attention has not the shape that was asked for');
  }
  const weights = values.toF32();
  // NaN fails both comparisons.
  if (!weights.every((weight) => weight >= 0 && weight <= LARGEST_WEIGHT)) {
    throw new MalformedMessage('weights of attention lie within 0 to 1');
  }
  return weights;
}

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
