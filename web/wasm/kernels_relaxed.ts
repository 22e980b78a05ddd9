// Kernels of the LM head for relaxed SIMD: products of int8 activations with levels, which fit into seven
// bits, so that every processor gives the same sums. Which of the two estimates is faster depends on the
// processor: pairs in 16 bits are one instruction on x86-64, fours in 32 bits one on processors with dot
// products (Arm's SDOT, AVX-VNNI).
import { BLOCK_BYTES, GROUP, SCALES, highScales, lowScales, nibbles, withBlock } from './estimate';

export { widen, products, firstNonFinite } from './rows';
export { quantise, checksum } from './plane';
export { addBias, select, weightOf } from './select';
export { estimate } from './kernels';

/** 16-bit `sums` and u x of eight columns of four rows; `x0`, `x1`: their activation, four in each lane. */
// @ts-ignore: decorator
@inline
function byPairs(sums: v128, levels: v128, x0: v128, x1: v128, mask: v128): v128 {
  const first = i16x8.relaxed_dot_i8x16_i7x16_s(x0, v128.and(levels, mask));
  const second = i16x8.relaxed_dot_i8x16_i7x16_s(x1, v128.and(i16x8.shr_u(levels, 4), mask));
  return i16x8.add(i16x8.add(sums, first), second);
}

/** The same in 32 bits. */
// @ts-ignore: decorator
@inline
function byFours(sums: v128, levels: v128, x0: v128, x1: v128, mask: v128): v128 {
  const first = i32x4.relaxed_dot_i8x16_i7x16_add_s(x0, v128.and(levels, mask), sums);
  return i32x4.relaxed_dot_i8x16_i7x16_add_s(x1, v128.and(i16x8.shr_u(levels, 4), mask), first);
}

// @ts-ignore: decorator
@inline
function withEight(fours: bool, sums: v128, levels: v128, x0: v128, x1: v128, mask: v128): v128 {
  return fours ? byFours(sums, levels, x0, x1, mask) : byPairs(sums, levels, x0, x1, mask);
}

/** Sums of 32 columns in 32 bits. Eight sums of two products of at most 15 * 127 stay within 16 bits. */
// @ts-ignore: decorator
@inline
function widened(fours: bool, sums: v128): v128 {
  return fours ? sums : i32x4.extadd_pairwise_i16x8_s(sums);
}

// @ts-ignore: decorator
@inline
function estimateRows(
  fours: bool, plane: usize, rows: i32, blocks: i32, x: usize, factors: usize, target: usize,
): void {
  const mask = nibbles();
  let at = plane;
  for (let row = 0; row < rows; row += GROUP) {
    let low = f32x4.splat(0);
    let high = f32x4.splat(0);
    let column = x;
    for (let block = 0; block < blocks; block++) {
      let lowSums = i32x4.splat(0);
      let highSums = i32x4.splat(0);
      for (const end = at + SCALES; at < end; at += 128, column += 32) {
        let lows = i32x4.splat(0);
        let highs = i32x4.splat(0);
        let x0 = v128.load32_splat(column);
        let x1 = v128.load32_splat(column, 4);
        lows = withEight(fours, lows, v128.load(at), x0, x1, mask);
        highs = withEight(fours, highs, v128.load(at, 16), x0, x1, mask);
        x0 = v128.load32_splat(column, 8);
        x1 = v128.load32_splat(column, 12);
        lows = withEight(fours, lows, v128.load(at, 32), x0, x1, mask);
        highs = withEight(fours, highs, v128.load(at, 48), x0, x1, mask);
        x0 = v128.load32_splat(column, 16);
        x1 = v128.load32_splat(column, 20);
        lows = withEight(fours, lows, v128.load(at, 64), x0, x1, mask);
        highs = withEight(fours, highs, v128.load(at, 80), x0, x1, mask);
        x0 = v128.load32_splat(column, 24);
        x1 = v128.load32_splat(column, 28);
        lows = withEight(fours, lows, v128.load(at, 96), x0, x1, mask);
        highs = withEight(fours, highs, v128.load(at, 112), x0, x1, mask);
        lowSums = i32x4.add(lowSums, widened(fours, lows));
        highSums = i32x4.add(highSums, widened(fours, highs));
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

/**
 * Estimates f32 [rows] at `target`. `x`: int8 [blocks * 64]; `factors`: see estimate.ts; `rows` is a multiple
 * of eight.
 */
export function estimateByPairs(
  plane: usize, rows: i32, blocks: i32, x: usize, factors: usize, target: usize,
): void {
  estimateRows(false, plane, rows, blocks, x, factors, target);
}

/** The same, see above. */
export function estimateByFours(
  plane: usize, rows: i32, blocks: i32, x: usize, factors: usize, target: usize,
): void {
  estimateRows(true, plane, rows, blocks, x, factors, target);
}
