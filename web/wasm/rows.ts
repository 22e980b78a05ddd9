// Weight rows as they lie in the file: widened to float32, and their exact products.
// All pointers are byte offsets into the imported memory; the host lays it out.

/** Numbers of the dtypes of the host's arena. */
export const F32: i32 = 0;
export const F16: i32 = 1;

/** Four f16 in the low halves of 32-bit lanes, as f32; subnormals, infinity and NaN included. */
// @ts-ignore: decorator
@inline
function widenHalves(lanes: v128): v128 {
  const sign = i32x4.shl(v128.and(lanes, i32x4.splat(0x8000)), 16);
  const magnitude = i32x4.shl(v128.and(lanes, i32x4.splat(0x7fff)), 13);
  // The exponent bias of f32 is larger by 112; the product is exact for subnormals too.
  const value = f32x4.mul(magnitude, f32x4.splat(5.192296858534828e33));
  const special = v128.and(i32x4.ge_s(magnitude, i32x4.splat(0x0f800000)), i32x4.splat(0x7f800000));
  return v128.or(v128.or(value, special), sign);
}

// @ts-ignore: decorator
@inline
function widenHalf(bits: u32): f32 {
  return f32x4.extract_lane(widenHalves(i32x4.splat(bits)), 0);
}

/** `count` values of `dtype` (0 f32, 1 f16, 2 bf16) at `source` as f32 at `target`. */
export function widen(dtype: i32, source: usize, count: i32, target: usize): void {
  if (dtype == F32) {
    memory.copy(target, source, <usize>count << 2);
    return;
  }
  const whole = count & ~7;
  for (let i = 0; i < whole; i += 8) {
    const eight = v128.load(source + (<usize>i << 1));
    const low = i32x4.extend_low_i16x8_u(eight);
    const high = i32x4.extend_high_i16x8_u(eight);
    const at = target + (<usize>i << 2);
    v128.store(at, dtype == F16 ? widenHalves(low) : i32x4.shl(low, 16));
    v128.store(at, dtype == F16 ? widenHalves(high) : i32x4.shl(high, 16), 16);
  }
  for (let i = whole; i < count; i++) {
    const bits = <u32>load<u16>(source + (<usize>i << 1));
    store<f32>(target + (<usize>i << 2), dtype == F16 ? widenHalf(bits) : reinterpret<f32>(bits << 16));
  }
}

/** The first of `count` f32 that is NaN or infinite, or -1. */
export function firstNonFinite(source: usize, count: i32): i32 {
  for (let i = 0; i < count; i++) {
    const value = load<f32>(source + (<usize>i << 2));
    if (value - value != 0) return i;
  }
  return -1;
}

/**
 * row . hidden in float64, rounded to float32 once: eight partial sums (element i in sum i mod 8), added as
 * ((0+1)+(2+3)) + ((4+5)+(6+7)), then what is left after the last whole eight, in order.
 */
function dot(row: usize, hidden: usize, length: i32): f32 {
  let sum0 = f64x2.splat(0);
  let sum1 = f64x2.splat(0);
  let sum2 = f64x2.splat(0);
  let sum3 = f64x2.splat(0);
  const whole = length & ~7;
  for (let i = 0; i < whole; i += 8) {
    const at = row + (<usize>i << 2);
    const with_ = hidden + (<usize>i << 3);
    sum0 = f64x2.add(sum0, f64x2.mul(widePair(at), v128.load(with_)));
    sum1 = f64x2.add(sum1, f64x2.mul(widePair(at + 8), v128.load(with_, 16)));
    sum2 = f64x2.add(sum2, f64x2.mul(widePair(at + 16), v128.load(with_, 32)));
    sum3 = f64x2.add(sum3, f64x2.mul(widePair(at + 24), v128.load(with_, 48)));
  }
  let sum = together(sum0) + together(sum1) + (together(sum2) + together(sum3));
  for (let i = whole; i < length; i++) {
    sum += <f64>load<f32>(row + (<usize>i << 2)) * load<f64>(hidden + (<usize>i << 3));
  }
  return <f32>sum;
}

/** Two f32 as f64. */
// @ts-ignore: decorator
@inline
function widePair(at: usize): v128 {
  return f64x2.promote_low_f32x4(v128.load64_zero(at));
}

// @ts-ignore: decorator
@inline
function together(pair: v128): f64 {
  return f64x2.extract_lane(pair, 0) + f64x2.extract_lane(pair, 1);
}

/**
 * Products of `count` rows of `length` values with `hidden` (f64): f32 [count] at `target`.
 * `scratch`: f32 [length], where a row is widened to.
 */
export function products(
  dtype: i32, source: usize, count: i32, length: i32, hidden: usize, scratch: usize, target: usize,
): void {
  const rowBytes = <usize>length << (dtype == F32 ? 2 : 1);
  for (let row = 0; row < count; row++) {
    const at = source + <usize>row * rowBytes;
    if (dtype != F32) widen(dtype, at, length, scratch);
    store<f32>(target + (<usize>row << 2), dot(dtype == F32 ? at : scratch, hidden, length));
  }
}
