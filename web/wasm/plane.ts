// Deriving the 4-bit plane: blocks of 64 weights with levels -8..7 and one scale.
//
// Eight rows lie side by side, so that a vector holds four of them and a product needs no sum across lanes.
// For each block of such a group 256 bytes of levels + 8 and 16 bytes of scales: of each eight columns 32
// bytes, four for a row, columns 0..3 in their low halves and 4..7 in their high ones; then in each 32 bits
// the bf16 scales of rows n (low half) and n + 4. Rows that fill up the last group have scale 0.
import { BLOCK_BYTES, GROUP, SCALES } from './estimate';
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

/** Eight columns in the low byte of each 32-bit lane. */
// @ts-ignore: decorator
@inline
function levelsOfEight(values: usize, step: v128): v128 {
  const first = levelsOfFour(values, step);
  return v128.or(first, i32x4.shl(levelsOfFour(values + 16, step), 4));
}

/** 32 columns of a row, four bytes for each eight. */
// @ts-ignore: decorator
@inline
function storeLevels(values: usize, step: v128, levels: usize): void {
  const first = i16x8.narrow_i32x4_s(levelsOfEight(values, step), levelsOfEight(values + 32, step));
  const second = i16x8.narrow_i32x4_s(levelsOfEight(values + 64, step), levelsOfEight(values + 96, step));
  const bytes = i8x16.narrow_i16x8_u(first, second);
  v128.store32_lane(levels, bytes, 0);
  v128.store32_lane(levels, bytes, 1, 32);
  v128.store32_lane(levels, bytes, 2, 64);
  v128.store32_lane(levels, bytes, 3, 96);
}

// @ts-ignore: decorator
@inline
function total(lanes: v128): f32 {
  return (
    f32x4.extract_lane(lanes, 0) + f32x4.extract_lane(lanes, 1) +
    (f32x4.extract_lane(lanes, 2) + f32x4.extract_lane(lanes, 3))
  );
}

/** One block of a row, whose first levels lie at `levels`; its scale goes to `scale`. */
function quantiseBlock(values: usize, levels: usize, scale: usize): void {
  const peak = peakOf(values);
  if (!(abs<f32>(peak) >= SMALLEST)) {
    for (let at: usize = 0; at < SCALES; at += 32) store<u32>(levels + at, 0x88888888);
    store<u16>(scale, 0);
    return;
  }
  const step = peak / STEPS;
  const steps = f32x4.splat(step);
  squares = f32x4.splat(0);
  fits = f32x4.splat(0);
  storeLevels(values, steps, levels);
  storeLevels(values + 128, steps, levels + 128);
  store<u16>(scale, narrowed((total(fits) / max<f32>(total(squares), 1)) * step));
}

/**
 * Quantise `count` rows of `length` weights at `source` into rows `first`.. of the plane.
 * `inverse`: 1 / column scale, f32 [blocks * 64], zeros behind `length`; `scratch`: f32 [blocks * 64].
 * Returns the first row that is not finite, counted from `source`, or -1.
 */
export function quantise(
  dtype: i32, source: usize, first: i32, count: i32, length: i32, inverse: usize, scratch: usize,
  plane: usize,
): i32 {
  const blocks = (length + BLOCK - 1) / BLOCK;
  const rowBytes = <usize>length << (dtype == 0 ? 2 : 1);
  memory.fill(scratch, 0, <usize>blocks * 256);
  for (let i = 0; i < count; i++) {
    widen(dtype, source + <usize>i * rowBytes, length, scratch);
    if (!scaleColumns(scratch, inverse, blocks * BLOCK)) return i;
    quantiseRow(scratch, blocks, plane, first + i);
  }
  return -1;
}

function quantiseRow(values: usize, blocks: i32, plane: usize, row: i32): void {
  const within = <usize>(row % GROUP);
  let block = plane + <usize>(row / GROUP) * <usize>blocks * BLOCK_BYTES;
  for (let i = 0; i < blocks; i++, block += BLOCK_BYTES) {
    const scale = block + SCALES + ((within & 3) << 2) + ((within >> 2) << 1);
    quantiseBlock(values + <usize>i * 256, block + (within << 2), scale);
  }
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
