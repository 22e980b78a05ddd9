// Common parts of the kernels for the products with a plane; see plane.ts for its layout.
//
// With u the level + 8, x the int8 activation, s and a the scales of weights and activation, a row's estimate
// is the sum over blocks of s a (sum u x - 8 sum x). The integer sums are exact and what follows is the same
// in every kernel, so all kernels give the same bits. `factors`: of each block a (f32) and 8 sum x (i32).
//
// Constants of loops lie in memory: engines make a constant anew wherever it is used, which takes longer
// than the arithmetic, and keep a loaded value in its register.

/** Rows that lie side by side. */
export const GROUP: i32 = 8;
/** Of 64 columns of eight rows: levels and scales. */
export const BLOCK_BYTES: usize = 272;
/** Where the scales begin in that. */
export const SCALES: usize = 256;

const NIBBLES: usize = memory.data<i32>([0x0f0f0f0f, 0x0f0f0f0f, 0x0f0f0f0f, 0x0f0f0f0f], 16);
const SHORTS: usize = memory.data<i32>([0x000f000f, 0x000f000f, 0x000f000f, 0x000f000f], 16);

/** 15 in every byte. */
// @ts-ignore: decorator
@inline
export function nibbles(): v128 {
  return v128.load(NIBBLES);
}

/** 15 in every 16 bits. */
// @ts-ignore: decorator
@inline
export function shorts(): v128 {
  return v128.load(SHORTS);
}

/** `estimates` of four rows and a block's share: scales * a * (sums - 8 sum x). */
// @ts-ignore: decorator
@inline
export function withBlock(estimates: v128, scales: v128, sums: v128, factors: usize): v128 {
  const factor = f32x4.mul(scales, v128.load32_splat(factors));
  const levels = i32x4.sub(sums, v128.load32_splat(factors, 4));
  return f32x4.add(estimates, f32x4.mul(factor, f32x4.convert_i32x4_s(levels)));
}

/** Scales of the first four rows of a group. */
// @ts-ignore: decorator
@inline
export function lowScales(scales: v128): v128 {
  return i32x4.shl(scales, 16);
}

/** Scales of the others. */
// @ts-ignore: decorator
@inline
export function highScales(scales: v128): v128 {
  return i32x4.shl(i32x4.shr_u(scales, 16), 16);
}
