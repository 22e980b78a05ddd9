import { sizeOf } from '../floats.js';

/** @typedef {import('../../../types/gatelink.js').FloatName} FloatName */

/** Weights that share one scale of the plane. */
export const BLOCK = 64;
/** Rows of the plane that lie side by side, and the bytes of a block of them; see wasm/plane.ts. */
export const GROUP = 8;
const GROUP_BLOCK_BYTES = 272;
/** Raw rows are read and multiplied this many bytes at a time (at least one row). */
const RAW_BYTES = 2 ** 20;
const PAGE = 2 ** 16;
// Below this lies what the compiler may place.
const BASE = PAGE;
/** Before the column scales in a plane's file. */
export const PLANE_HEADER = 64;

/**
 * Where things lie in a worker's WASM memory, in bytes. The memory never grows, so views stay valid.
 *
 * @typedef {object} Layout
 * @property {number} hidden columns
 * @property {number} rows of the head's shard
 * @property {number} blocks per row
 * @property {number} padded blocks * 64
 * @property {number} pages of the memory
 * @property {number} hidden64 f64 [hidden]
 * @property {number} bytes8 the activation for relaxed SIMD, int8 [padded]
 * @property {number} words16 the activation for SIMD, int16 [padded]
 * @property {number} factors of each block f32 step, i32 8 * sum of the activation
 * @property {number} inverse 1 / column scale, f32 [padded]
 * @property {number} rowScratch f32 [padded]
 * @property {number} raw rows as in the file
 * @property {number} rawBytes
 * @property {number} products f32, one for each row that fits into raw
 * @property {number} bias f32 [rows filled up to eights]; 0: none
 * @property {number} estimates f32 [rows filled up to eights]
 * @property {number} heapValues f32 [rows]
 * @property {number} heapIds i32 [rows]
 * @property {number} planeFile header, column scales f32 [padded], rows of the plane
 * @property {number} planeBytes of that; 0: no plane
 * @property {number} planeRows where its rows begin
 * @property {number} table the whole shard as in the file, where there is no plane
 */

/**
 * @param {object} shape
 * @param {number} shape.hidden
 * @param {number} shape.rows
 * @param {FloatName} shape.dtype of the head
 * @param {FloatName} shape.embeddingDtype
 * @param {boolean} shape.compact whether there is a plane
 * @param {boolean} [shape.elsewhere] whether its rows lie outside this memory
 * @param {boolean} shape.biased
 * @returns {Layout}
 */
export function layOut({ hidden, rows, dtype, embeddingDtype, compact, elsewhere = false, biased }) {
  const blocks = Math.ceil(hidden / BLOCK);
  const padded = blocks * BLOCK;
  const filled = GROUP * Math.ceil(rows / GROUP);
  const rawBytes = Math.max(RAW_BYTES, hidden * 4);
  let end = BASE;
  const take = (/** @type {number} */ bytes) => {
    const at = end;
    end += Math.ceil(bytes / 16) * 16;
    return at;
  };
  const smallest = hidden * Math.min(sizeOf(dtype), sizeOf(embeddingDtype));
  const small = scratch(take, { hidden, blocks, rawBytes, smallest });
  const perRow = {
    bias: biased ? take(4 * filled) : 0,
    estimates: take(compact ? 4 * filled : 0),
    heapValues: take(compact ? 4 * rows : 0),
    heapIds: take(compact ? 4 * rows : 0),
  };
  const planeBytes = compact && !elsewhere ? PLANE_HEADER + 4 * padded + planeSize(rows, blocks) : 0;
  const planeFile = take(planeBytes);
  const planeRows = planeFile + PLANE_HEADER + 4 * padded;
  const table = take(compact ? 0 : rows * hidden * sizeOf(dtype));
  const pages = Math.ceil(end / PAGE);
  const sizes = { hidden, rows, blocks, padded, pages, rawBytes, planeBytes };
  return { ...sizes, ...small, ...perRow, planeFile, planeRows, table };
}

/**
 * What does not grow with the rows.
 * @param {(bytes: number) => number} take
 * @param {{hidden: number, blocks: number, rawBytes: number, smallest: number}} sizes `smallest`: bytes of the
 *   smallest row
 */
function scratch(take, { hidden, blocks, rawBytes, smallest }) {
  const padded = blocks * BLOCK;
  return {
    hidden64: take(8 * hidden),
    bytes8: take(padded),
    words16: take(2 * padded),
    factors: take(8 * blocks),
    inverse: take(4 * padded),
    rowScratch: take(4 * padded),
    raw: take(rawBytes),
    products: take(4 * Math.ceil(rawBytes / smallest)),
  };
}

/** Bytes of the rows of a plane, those that fill up the last group included. */
export function planeSize(/** @type {number} */ rows, /** @type {number} */ blocks) {
  return Math.ceil(rows / GROUP) * blocks * GROUP_BLOCK_BYTES;
}
