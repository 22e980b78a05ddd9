// Kernels of the LM head for WebAssembly SIMD; the activation is widened to int16.
import { BLOCK_BYTES, GROUP, SCALES, highScales, lowScales, shorts, withBlock } from './estimate';

export { widen, products, firstNonFinite } from './rows';
export { quantise, checksum } from './plane';
export { addBias, select, weightOf } from './select';

/** `sums` of four rows and u x of eight columns; `x`: pairs of int16 for each nibble of 16 bits. */
// @ts-ignore: decorator
@inline
function withEight(sums: v128, levels: v128, x: usize, mask: v128): v128 {
  const first = i32x4.dot_i16x8_s(v128.and(levels, mask), v128.load32_splat(x));
  const second = i32x4.dot_i16x8_s(v128.and(i16x8.shr_u(levels, 4), mask), v128.load32_splat(x, 4));
  const third = i32x4.dot_i16x8_s(v128.and(i16x8.shr_u(levels, 8), mask), v128.load32_splat(x, 8));
  const fourth = i32x4.dot_i16x8_s(i16x8.shr_u(levels, 12), v128.load32_splat(x, 12));
  return i32x4.add(sums, i32x4.add(i32x4.add(first, second), i32x4.add(third, fourth)));
}

/**
 * Estimates f32 [rows] at `target`. `x`: int16 [blocks * 64], of each eight columns 0, 2, 4, 6, 1, 3, 5, 7;
 * `factors`: see estimate.ts; `rows` is a multiple of eight.
 */
export function estimate(
  plane: usize, rows: i32, blocks: i32, x: usize, factors: usize, target: usize,
): void {
  const mask = shorts();
  let at = plane;
  for (let row = 0; row < rows; row += GROUP) {
    let low = f32x4.splat(0);
    let high = f32x4.splat(0);
    let column = x;
    for (let block = 0; block < blocks; block++) {
      let lowSums = i32x4.splat(0);
      let highSums = i32x4.splat(0);
      for (const end = at + SCALES; at < end; at += 32, column += 16) {
        lowSums = withEight(lowSums, v128.load(at), column, mask);
        highSums = withEight(highSums, v128.load(at, 16), column, mask);
      }
      const scales = v128.load(at);
      const factor = factors + (<usize>block << 3);
      low = withBlock(low, lowScales(scales), lowSums, factor);
      high = withBlock(high, highScales(scales), highSums, factor);
      at += BLOCK_BYTES - SCALES;
    }
    v128.store(target + (<usize>row << 2), low);
    v128.store(target + (<usize>row << 2), high, 16);
  }
}
