// What the kernels for the products with a plane have in common; see plane.ts for its layout.
//
// With u the level + 8, x the int8 activation, s and a the scales of weights and activation, a row's estimate
// is the sum over blocks of s a (sum u x - 8 sum x). The integer sums are exact, and every kernel keeps the
// bytes 4 l .. 4 l + 3 of each 16 in lane l, so that all kernels give the same bits.

/** Bytes of a row. */
// @ts-ignore: decorator
@inline
export function strideOf(blocks: i32): usize {
  return <usize>(blocks * 32 + ((blocks + 7) & ~7) * 2);
}

/**
 * s a of each block of a row as f32 at `target`, filled up to a multiple of four; returns minus the sum of
 * s a 8 sum x, spread over four lanes. `factors`: a, then 8 sum x, each f32 [blocks filled up to eights].
 */
// @ts-ignore: decorator
@inline
export function blockFactors(row: usize, blocks: i32, factors: usize, target: usize): v128 {
  const scales = row + <usize>blocks * 32;
  const totals = factors + <usize>((blocks + 7) & ~7) * 4;
  let offset = f32x4.splat(0);
  for (let block = 0; block < blocks; block += 4) {
    const at = <usize>block << 2;
    const halves = i32x4.extend_low_i16x8_u(v128.load64_zero(scales + (<usize>block << 1)));
    const factor = f32x4.mul(i32x4.shl(halves, 16), v128.load(factors + at));
    v128.store(target + at, factor);
    offset = f32x4.sub(offset, f32x4.mul(factor, v128.load(totals + at)));
  }
  return offset;
}

// @ts-ignore: decorator
@inline
export function total(lanes: v128): f32 {
  return (
    f32x4.extract_lane(lanes, 0) + f32x4.extract_lane(lanes, 1) +
    (f32x4.extract_lane(lanes, 2) + f32x4.extract_lane(lanes, 3))
  );
}
