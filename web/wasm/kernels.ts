// Kernels of the LM head for WebAssembly SIMD; the activation is widened to int16.
import { blockFactors, strideOf, total } from './estimate';

export { widen, products, firstNonFinite } from './rows';
export { quantise, checksum } from './plane';
export { addBias, select, weightOf } from './select';

/** Sums of u x of one block of 64: i32x4. `x`: int16, columns 4 i + n of each 32 in vector n. */
// @ts-ignore: decorator
@inline
function blockSum(levels: usize, x: usize): v128 {
  const mask = i16x8.splat(15);
  const first = v128.load(levels);
  const second = v128.load(levels, 16);
  let a = i32x4.dot_i16x8_s(v128.and(first, mask), v128.load(x));
  let b = i32x4.dot_i16x8_s(v128.and(i16x8.shr_u(first, 4), mask), v128.load(x, 16));
  a = i32x4.add(a, i32x4.dot_i16x8_s(v128.and(i16x8.shr_u(first, 8), mask), v128.load(x, 32)));
  b = i32x4.add(b, i32x4.dot_i16x8_s(i16x8.shr_u(first, 12), v128.load(x, 48)));
  a = i32x4.add(a, i32x4.dot_i16x8_s(v128.and(second, mask), v128.load(x, 64)));
  b = i32x4.add(b, i32x4.dot_i16x8_s(v128.and(i16x8.shr_u(second, 4), mask), v128.load(x, 80)));
  a = i32x4.add(a, i32x4.dot_i16x8_s(v128.and(i16x8.shr_u(second, 8), mask), v128.load(x, 96)));
  b = i32x4.add(b, i32x4.dot_i16x8_s(i16x8.shr_u(second, 12), v128.load(x, 112)));
  return i32x4.add(a, b);
}

/**
 * Estimates f32 [rows] at `target`. `x`: int16 [blocks * 64] in the order of `blockSum`; `factors`: see
 * `blockFactors`; `scratch`: f32 [2 * blocks filled up to fours]; `rows` is even.
 */
export function estimate(
  plane: usize, rows: i32, blocks: i32, x: usize, factors: usize, scratch: usize, target: usize,
): void {
  const stride = strideOf(blocks);
  const width = <usize>((blocks + 3) & ~3) << 2;
  for (let row = 0; row < rows; row += 2) {
    const row0 = plane + <usize>row * stride;
    const row1 = row0 + stride;
    let sum0 = blockFactors(row0, blocks, factors, scratch);
    let sum1 = blockFactors(row1, blocks, factors, scratch + width);
    for (let block = 0; block < blocks; block++) {
      const at = <usize>block << 5;
      const with_ = x + (<usize>block << 7);
      const factor = scratch + (<usize>block << 2);
      const part0 = f32x4.convert_i32x4_s(blockSum(row0 + at, with_));
      const part1 = f32x4.convert_i32x4_s(blockSum(row1 + at, with_));
      sum0 = f32x4.add(sum0, f32x4.mul(part0, v128.load32_splat(factor)));
      sum1 = f32x4.add(sum1, f32x4.mul(part1, v128.load32_splat(factor + width)));
    }
    store<f32>(target + (<usize>row << 2), total(sum0));
    store<f32>(target + (<usize>row << 2), total(sum1), 4);
  }
}
