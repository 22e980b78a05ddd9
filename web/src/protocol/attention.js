// The attention fields of steps and results (docs/protocol.md, "Attention"), as they travel, and what this device
// asks for with them.
import { AttentionInvalid, AttentionTooLarge, MalformedMessage, Unsupported, WireError } from './errors.js';
import { Fields } from './fields.js';
import { LARGEST_ATTENTION_BYTES, LARGEST_HEADS, LARGEST_LAYERS, MAX_TOP_K } from './limits.js';
import { ALIGNMENT, itemSize } from './tensor.js';

/** @typedef {import('./tensor.js').Tensor} Tensor */
/** @typedef {Pick<import('./messages.js').Opened, 'capabilities' | 'layers' | 'heads'>} Offered */
/**
 * @typedef {object} AttentionRequest which rows a step returns
 * @property {'all' | 'mean' | 'max'} heads every head, or their mean or maximum
 * @property {number} topK the largest weights of each row; 0: all positions
 * @property {'f32' | 'f16'} dtype
 * @property {number[]} [layers] which, from 0, rising; none or left out: all
 * @property {'none' | 'mean' | 'max'} [reduce] over all rows that are left, to one
 */
/**
 * @typedef {object} AttentionRows
 * @property {number} layers
 * @property {number} heads rows of one layer
 * @property {Tensor} values [layers * heads, width]
 * @property {Tensor | null} positions i32 of the same shape, with a top-k
 */
/**
 * What a step wants to know: nothing; one row of all layers and heads; or the row of each.
 * @typedef {false | 'row' | 'heads'} Wanted
 */
/**
 * Checked rows over `cached` positions: `weights` [layers * heads, width], those of `positions` (of the same shape) or,
 * without them, of all positions in order.
 * @typedef {{layers: number, heads: number, cached: number, width: number, weights: Float32Array,
 *   positions: Int32Array | null}} Told
 */

/** The server reduces over layers, and over those that are named. */
export const LAYERS_CAPABILITY = 'attention_layers';
// A softmax in float32 may end that much above 1.
const LARGEST_WEIGHT = 1 + 1e-5;
/** With 6 bytes each, names and alignment included, below 600 bytes a token. */
export const LARGEST_OF_A_ROW = 76;

/** @type {AttentionRequest} */
const REDUCED_ROW = { heads: 'all', topK: LARGEST_OF_A_ROW, dtype: 'f16', layers: [], reduce: 'mean' };
/** Of each layer the mean over its heads, which the device reduces itself. @type {AttentionRequest} */
const MEAN_ROWS = { heads: 'mean', topK: 0, dtype: 'f16', layers: [], reduce: 'none' };
/** @type {AttentionRequest} */
const ALL_ROWS = { heads: 'all', topK: 0, dtype: 'f16', layers: [], reduce: 'none' };

/** @type {('none' | 'mean' | 'max')[]} */
const REDUCES = ['none', 'mean', 'max'];

/**
 * What this server is asked for.
 * @param {Offered} opened @param {Wanted} wanted
 * @returns {AttentionRequest | null}
 * @throws {Unsupported}
 */
export function requestFor({ capabilities, layers, heads }, wanted) {
  if (!wanted) return null;
  if (!capabilities.includes('attention') || !layers || !heads) throw new Unsupported('attention');
  if (wanted === 'heads') return ALL_ROWS;
  return capabilities.includes(LAYERS_CAPABILITY) ? REDUCED_ROW : MEAN_ROWS;
}

/**
 * Bytes that an answer over `positions` cached ones adds to a result, padding included.
 * @param {Offered} opened @param {AttentionRequest} request @param {number} positions
 * @throws {AttentionTooLarge}
 */
export function rowsBytes(opened, request, positions) {
  const [layers, heads, width] = shapeOf(opened, request, positions);
  const places = request.topK ? itemSize('i32') : 0;
  const size = layers * heads * width * (itemSize(request.dtype) + places) + 4 * ALIGNMENT;
  if (size > LARGEST_ATTENTION_BYTES) throw new AttentionTooLarge(size, LARGEST_ATTENTION_BYTES);
  return size;
}

/**
 * The answer to a request over `cached` positions. One that cannot be true is no reason to give up the states that it
 * came with: it is told as what it is.
 * @param {AttentionRows | null} rows
 * @param {Offered} opened @param {AttentionRequest} request @param {number} cached
 * @returns {Told | AttentionInvalid}
 */
export function toldRows(rows, opened, request, cached) {
  try {
    return checkedRows(rows, opened, request, cached);
  } catch (error) {
    if (error instanceof WireError) return new AttentionInvalid(error.message);
    throw error;
  }
}

/**
 * @param {AttentionRows | null} rows @param {Offered} opened @param {AttentionRequest} request @param {number} cached
 * @returns {Told}
 * @throws {MalformedMessage} unless the shape is the one asked for and all weights lie within 0 to 1
 */
function checkedRows(rows, opened, request, cached) {
  if (rows === null) throw new MalformedMessage('the attention that was asked for is missing');
  const { values } = rows;
  const [layers, heads, width] = shapeOf(opened, request, cached);
  const shape = [rows.layers, rows.heads, values.rows, values.width].join();
  const fits = shape === [layers, heads, layers * heads, width].join() && (rows.positions !== null) === request.topK > 0;
  if (!fits || values.dtype !== request.dtype) {
    throw new MalformedMessage('attention has not the shape that was asked for');
  }
  const weights = values.toF32();
  // NaN fails both comparisons.
  if (!weights.every((weight) => weight >= 0 && weight <= LARGEST_WEIGHT)) {
    throw new MalformedMessage('weights of attention lie within 0 to 1');
  }
  return { layers, heads, cached, width, weights, positions: rows.positions && checkedPlaces(rows.positions, values, cached) };
}

/**
 * @param {Tensor} positions @param {Tensor} values @param {number} cached
 * @throws {MalformedMessage} unless each row names different positions that are cached
 */
function checkedPlaces(positions, { rows, width }, cached) {
  if (positions.rows !== rows || positions.width !== width) {
    throw new MalformedMessage('attention names other positions than it has weights');
  }
  const places = wholeNumbers(positions);
  for (let row = 0; row < rows; row++) {
    const own = places.subarray(row * width, (row + 1) * width);
    if (new Set(own).size < width || !own.every((place) => place >= 0 && place < cached)) {
      throw new MalformedMessage('attention names positions that are not there, or one twice');
    }
  }
  return places;
}

/** @param {Tensor} tensor of i32 @returns {Int32Array} */
function wholeNumbers({ data }) {
  return new Int32Array(data.slice().buffer);
}

/**
 * Layers, rows of one layer, and weights of a row.
 * @param {Offered} opened @param {AttentionRequest} request @param {number} cached
 */
function shapeOf(opened, request, cached) {
  const one = (request.reduce ?? 'none') !== 'none';
  const layers = one ? 1 : (request.layers?.length || opened.layers);
  const heads = one || request.heads !== 'all' ? 1 : opened.heads;
  return [layers, heads, request.topK ? Math.min(request.topK, cached) : cached];
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
    layers: value === true ? [] : layersIn(value.get('layers') ?? null),
    reduce: oneOf('reduce', fields.optionalText('reduce') ?? 'none', REDUCES),
  };
}

/**
 * @param {unknown} value
 * @returns {number[]}
 */
function layersIn(value) {
  if (value === null) return [];
  const whole = (/** @type {unknown} */ each) => Number.isInteger(each) && Number(each) >= 0;
  if (!Array.isArray(value) || value.length < 1 || value.length > LARGEST_LAYERS || !value.every(whole)) {
    throw new MalformedMessage("'layers' of attention must be a list of numbers, at least one");
  }
  if (!value.every((each, index) => index === 0 || value[index - 1] < each)) {
    throw new MalformedMessage("'layers' of attention must rise, each named once");
  }
  return value;
}

/**
 * The field of a step that asks for `request`; defaults are left out.
 * @param {AttentionRequest | null} request
 * @returns {boolean | Record<string, string | number | number[]>}
 */
export function requestValue(request) {
  if (request === null) return false;
  const { heads, topK, dtype, layers = [], reduce = 'none' } = request;
  const kept = [
    ...(heads === 'all' ? [] : [['heads', heads]]),
    ...(topK === 0 ? [] : [['top_k', topK]]),
    ...(dtype === 'f32' ? [] : [['dtype', dtype]]),
    ...(layers.length === 0 ? [] : [['layers', layers]]),
    ...(reduce === 'none' ? [] : [['reduce', reduce]]),
  ];
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
