// Deriving the 4-bit plane: blocks of 64 weights with levels -8..7 and one scale.
//
// A row of the plane: `blocks` times 32 bytes of levels (two neighbouring columns to a byte, the first in the
// low half, as level + 8), then one bf16 scale for each block, filled up to a multiple of eight.
import { widen, firstNonFinite } from './rows';

const BLOCK: i32 = 64;
// The largest weight of a block gets level -8: 8.5 steps, clipped, which costs normal rows the least error.
const STEPS: f32 = -8.5;
// A block below this keeps level 0: its scale could lose digits to underflow.
const SMALLEST: f32 = 7.888609052210118e-31; // 2^-100
// A weight that a column scale lifts beyond this makes no logit that stays finite.
const LARGEST: f32 = 1.329227995784916e36; // 2^120

/** f32 as bf16, to nearest, ties to even. */
// @ts-ignore: decorator
@inline
function narrowed(value: f32): u16 {
  const bits = reinterpret<u32>(value);
  return <u16>((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}

/** The value of largest size among 64; of two of one size the first, with its sign. */
function peakOf(values: usize): f32 {
  let largest = f32x4.abs(v128.load(values));
  for (let i: usize = 16; i < 256; i += 16) largest = f32x4.max(largest, f32x4.abs(v128.load(values + i)));
  const size = max<f32>(
    max<f32>(f32x4.extract_lane(largest, 0), f32x4.extract_lane(largest, 1)),
    max<f32>(f32x4.extract_lane(largest, 2), f32x4.extract_lane(largest, 3)),
  );
  for (let i: usize = 0; i < 256; i += 4) {
    const value = load<f32>(values + i);
    if (abs<f32>(value) == size) return value;
  }
  return 0;
}

/** Levels + 8 of 16 values as bytes; sums of squares and of ratio * level go to the globals below. */
let squares: v128 = f32x4.splat(0);
let fits: v128 = f32x4.splat(0);

// @ts-ignore: decorator
@inline
function levelsOfFour(values: usize, step: v128): v128 {
  const ratio = f32x4.div(v128.load(values), step);
  const level = f32x4.min(f32x4.max(f32x4.nearest(ratio), f32x4.splat(-8)), f32x4.splat(7));
  squares = f32x4.add(squares, f32x4.mul(level, level));
  fits = f32x4.add(fits, f32x4.mul(ratio, level));
  return i32x4.trunc_sat_f32x4_s(f32x4.add(level, f32x4.splat(8)));
}

// @ts-ignore: decorator
@inline
function levelsOfEight(values: usize, step: v128): v128 {
  return i16x8.narrow_i32x4_s(levelsOfFour(values, step), levelsOfFour(values + 16, step));
}

/** Sixteen neighbours, two to each 16-bit lane's low byte. */
// @ts-ignore: decorator
@inline
function pairsOfSixteen(values: usize, step: v128): v128 {
  const bytes = i8x16.narrow_i16x8_u(levelsOfEight(values, step), levelsOfEight(values + 32, step));
  return v128.and(v128.or(bytes, i16x8.shr_u(bytes, 4)), i16x8.splat(0xff));
}

// @ts-ignore: decorator
@inline
function levelsOfHalf(values: usize, steps: v128): v128 {
  return i8x16.narrow_i16x8_u(pairsOfSixteen(values, steps), pairsOfSixteen(values + 64, steps));
}

// @ts-ignore: decorator
@inline
function total(lanes: v128): f32 {
  return (
    f32x4.extract_lane(lanes, 0) + f32x4.extract_lane(lanes, 1) +
    (f32x4.extract_lane(lanes, 2) + f32x4.extract_lane(lanes, 3))
  );
}

/** One block: 32 bytes at `levels`, its scale at `scale`. */
function quantiseBlock(values: usize, levels: usize, scale: usize): void {
  const peak = peakOf(values);
  if (!(abs<f32>(peak) >= SMALLEST)) {
    memory.fill(levels, 0x88, 32);
    store<u16>(scale, 0);
    return;
  }
  const step = peak / STEPS;
  const steps = f32x4.splat(step);
  squares = f32x4.splat(0);
  fits = f32x4.splat(0);
  v128.store(levels, levelsOfHalf(values, steps));
  v128.store(levels, levelsOfHalf(values + 128, steps), 16);
  store<u16>(scale, narrowed((total(fits) / max<f32>(total(squares), 1)) * step));
}

/**
 * Quantise `count` rows of `length` weights at `source` into rows of the plane at `target`.
 * `inverse`: 1 / column scale, f32 [blocks * 64], zeros behind `length`; `scratch`: f32 [blocks * 64].
 * Returns the first row that is not finite, or -1.
 */
export function quantise(
  dtype: i32, source: usize, count: i32, length: i32, inverse: usize, scratch: usize, target: usize,
): i32 {
  const blocks = (length + BLOCK - 1) / BLOCK;
  const stride = <usize>(blocks * 32 + ((blocks + 7) & ~7) * 2);
  const rowBytes = <usize>length << (dtype == 0 ? 2 : 1);
  memory.fill(scratch, 0, <usize>blocks * 256);
  for (let row = 0; row < count; row++) {
    widen(dtype, source + <usize>row * rowBytes, length, scratch);
    if (!scaleColumns(scratch, inverse, blocks * BLOCK)) return row;
    const levels = target + <usize>row * stride;
    for (let block = 0; block < blocks; block++) {
      const scale = levels + <usize>(blocks * 32 + block * 2);
      quantiseBlock(scratch + <usize>block * 256, levels + <usize>block * 32, scale);
    }
    memory.fill(levels + <usize>(blocks * 34), 0, stride - <usize>(blocks * 34));
  }
  return -1;
}

/** Multiplies in place, clipped; false where a value was NaN or infinite. */
function scaleColumns(values: usize, inverse: usize, count: i32): bool {
  let doubt = f32x4.splat(0);
  for (let i = 0; i < count; i += 4) {
    const at = values + (<usize>i << 2);
    const value = v128.load(at);
    doubt = v128.or(doubt, f32x4.ne(f32x4.sub(value, value), f32x4.splat(0)));
    const scaled = f32x4.mul(value, v128.load(inverse + (<usize>i << 2)));
    v128.store(at, f32x4.min(f32x4.max(scaled, f32x4.splat(-LARGEST)), f32x4.splat(LARGEST)));
  }
  return !v128.any_true(doubt);
}

/** A checksum of `bytes` (a multiple of 16) that depends on the order of its words. */
export function checksum(source: usize, bytes: usize): u64 {
  let even: u64 = 0x9e3779b97f4a7c15;
  let odd: u64 = 0xc2b2ae3d27d4eb4f;
  for (let at = source, end = source + bytes; at < end; at += 16) {
    even = rotl<u64>((even ^ load<u64>(at)) * 0x9fb21c651e98df25, 29);
    odd = rotl<u64>((odd ^ load<u64>(at, 8)) * 0xd6e8feb86659fd93, 31);
  }
  return even ^ rotl<u64>(odd, 17);
}
