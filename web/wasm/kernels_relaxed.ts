// Kernels of the LM head for relaxed SIMD: products of int8 activations with levels, which fit into seven
// bits, so that every processor gives the same sums. Which of the two estimates is faster depends on the
// processor: pairs in 16 bits are one instruction on x86-64, fours in 32 bits one on processors with dot
// products (Arm's SDOT, AVX-VNNI).
import { blockFactors, strideOf, total } from './estimate';

export { widen, products, firstNonFinite } from './rows';
export { quantise, checksum } from './plane';
export { addBias, select, weightOf } from './select';
export { estimate } from './kernels';

/** Sums of u x of one block of 64: i32x4, by pairs. `x`: int8, even columns and odd columns of each 32. */
// @ts-ignore: decorator
@inline
function byPairs(levels: usize, x0: v128, x1: v128, x2: v128, x3: v128): v128 {
  const mask = i8x16.splat(15);
  const first = v128.load(levels);
  const second = v128.load(levels, 16);
  // Four sums of two products of at most 15 * 127 stay within 16 bits.
  const a = i16x8.relaxed_dot_i8x16_i7x16_s(x0, v128.and(first, mask));
  const b = i16x8.relaxed_dot_i8x16_i7x16_s(x1, v128.and(i16x8.shr_u(first, 4), mask));
  const c = i16x8.relaxed_dot_i8x16_i7x16_s(x2, v128.and(second, mask));
  const d = i16x8.relaxed_dot_i8x16_i7x16_s(x3, v128.and(i16x8.shr_u(second, 4), mask));
  return i32x4.extadd_pairwise_i16x8_s(i16x8.add(i16x8.add(a, b), i16x8.add(c, d)));
}

/** The same by fours. */
// @ts-ignore: decorator
@inline
function byFours(levels: usize, x0: v128, x1: v128, x2: v128, x3: v128): v128 {
  const mask = i8x16.splat(15);
  const first = v128.load(levels);
  const second = v128.load(levels, 16);
  let sum = i32x4.relaxed_dot_i8x16_i7x16_add_s(x0, v128.and(first, mask), i32x4.splat(0));
  sum = i32x4.relaxed_dot_i8x16_i7x16_add_s(x1, v128.and(i16x8.shr_u(first, 4), mask), sum);
  sum = i32x4.relaxed_dot_i8x16_i7x16_add_s(x2, v128.and(second, mask), sum);
  return i32x4.relaxed_dot_i8x16_i7x16_add_s(x3, v128.and(i16x8.shr_u(second, 4), mask), sum);
}

// @ts-ignore: decorator
@inline
function blockSum(fours: bool, levels: usize, x0: v128, x1: v128, x2: v128, x3: v128): v128 {
  return fours ? byFours(levels, x0, x1, x2, x3) : byPairs(levels, x0, x1, x2, x3);
}

// @ts-ignore: decorator
@inline
function estimateRows(
  fours: bool, plane: usize, rows: i32, blocks: i32, x: usize, factors: usize, scratch: usize, target: usize,
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
      const with_ = x + (<usize>block << 6);
      const x0 = v128.load(with_);
      const x1 = v128.load(with_, 16);
      const x2 = v128.load(with_, 32);
      const x3 = v128.load(with_, 48);
      const factor = scratch + (<usize>block << 2);
      const part0 = f32x4.convert_i32x4_s(blockSum(fours, row0 + at, x0, x1, x2, x3));
      sum0 = f32x4.add(sum0, f32x4.mul(part0, v128.load32_splat(factor)));
      const part1 = f32x4.convert_i32x4_s(blockSum(fours, row1 + at, x0, x1, x2, x3));
      sum1 = f32x4.add(sum1, f32x4.mul(part1, v128.load32_splat(factor + width)));
    }
    const out = target + (<usize>row << 2);
    store<f32>(out, total(sum0));
    store<f32>(out, total(sum1), 4);
  }
}

/**
 * Estimates f32 [rows] at `target`. `x`: int8 [blocks * 64], of each 32 columns the even ones first;
 * `factors`: see `blockFactors`; `scratch`: f32 [2 * blocks filled up to fours]; `rows` is even.
 */
export function estimateByPairs(
  plane: usize, rows: i32, blocks: i32, x: usize, factors: usize, scratch: usize, target: usize,
): void {
  estimateRows(false, plane, rows, blocks, x, factors, scratch, target);
}

/** The same, see above. */
export function estimateByFours(
  plane: usize, rows: i32, blocks: i32, x: usize, factors: usize, scratch: usize, target: usize,
): void {
  estimateRows(true, plane, rows, blocks, x, factors, scratch, target);
}
