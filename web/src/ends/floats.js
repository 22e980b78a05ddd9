/** @typedef {import('../../types/gatelink.js').FloatName} FloatName */

/** Numbers of the dtypes as the kernels take them (wasm/rows.ts). @type {Record<FloatName, number>} */
export const DTYPE_CODES = { f32: 0, f16: 1, bf16: 2 };

/** Bytes of a value. @param {FloatName} dtype */
export function sizeOf(dtype) {
  return dtype === 'f32' ? 4 : 2;
}
