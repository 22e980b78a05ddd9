// Sizes that both ends bound the wire with: the table "Limits" of docs/protocol.md.
import { ALIGNMENT } from './tensor.js';

export const MAX_HEADER_BYTES = 64 * 1024;
export const MAX_TENSORS = 64;
/** Of a list or a map in a header. */
export const MAX_ITEMS = 1024;
/** Of lists and maps in one another; far below what the engine's stack holds. */
export const MAX_NESTING = 1000;
/** Rows or width of a tensor. */
export const MAX_SIDE = 2 ** 28;
/** Characters of a text field. */
export const MAX_TEXT = 200;
/** Characters of an error's message. */
export const MAX_MESSAGE_TEXT = 1000;
export const MAX_CAPABILITIES = 64;
/** Rows of a step that a client sends however many the server takes. */
export const DEFAULT_MAX_ROWS = 512;
/** What a device believes of a server's announcement; it sizes buffers by these. */
export const LARGEST_MAX_ROWS = 2 ** 16;
export const LARGEST_MAX_CONTEXT = 2 ** 31;
export const LARGEST_LAYERS = 1024;
export const LARGEST_HEADS = 1024;
export const MAX_TOP_K = 4096;
/** Of the rows of one result. */
export const LARGEST_ATTENTION_BYTES = 64 << 20;

const PREFIX_BYTES = 8;
const WIDEST_ITEM = 4;

/**
 * The largest frame with one tensor of `maxRows` rows of the widest dtype.
 * @param {number} hiddenSize
 * @param {number} maxRows
 * @returns {number} bytes
 */
export function frameLimit(hiddenSize, maxRows) {
  return PREFIX_BYTES + MAX_HEADER_BYTES + ALIGNMENT + maxRows * hiddenSize * WIDEST_ITEM;
}
