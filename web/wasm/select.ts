// Steps after the estimates: bias, the largest of them, and the weight of the rest.

/** Adds `bias` (0: none) in place; false where an estimate is not finite. */
export function addBias(estimates: usize, bias: usize, rows: i32): bool {
  let doubt = f32x4.splat(0);
  for (let i: usize = 0, end = <usize>((rows + 3) & ~3) << 2; i < end; i += 16) {
    let value = v128.load(estimates + i);
    if (bias) {
      value = f32x4.add(value, v128.load(bias + i));
      v128.store(estimates + i, value);
    }
    doubt = v128.or(doubt, f32x4.ne(f32x4.sub(value, value), f32x4.splat(0)));
  }
  return !v128.any_true(doubt);
}

/** Puts `value` in a min-heap's root and lets it sink. */
function sink(values: usize, ids: usize, size: i32, start: i32, value: f32, id: i32): void {
  let at = start;
  for (;;) {
    let child = 2 * at + 1;
    if (child >= size) break;
    let low = load<f32>(values + (<usize>child << 2));
    if (child + 1 < size) {
      const other = load<f32>(values + (<usize>(child + 1) << 2));
      if (other < low) {
        low = other;
        child++;
      }
    }
    if (low >= value) break;
    store<f32>(values + (<usize>at << 2), low);
    store<i32>(ids + (<usize>at << 2), load<i32>(ids + (<usize>child << 2)));
    at = child;
  }
  store<f32>(values + (<usize>at << 2), value);
  store<i32>(ids + (<usize>at << 2), id);
}

/**
 * The ids of the `size` largest of `rows` estimates (size <= rows), in no order, at `ids`; their estimates at
 * `values`, the lowest of them first.
 */
export function select(estimates: usize, rows: i32, size: i32, values: usize, ids: usize): void {
  for (let i = 0; i < size; i++) {
    store<f32>(values + (<usize>i << 2), load<f32>(estimates + (<usize>i << 2)));
    store<i32>(ids + (<usize>i << 2), i);
  }
  for (let i = (size >> 1) - 1; i >= 0; i--) {
    const at = <usize>i << 2;
    sink(values, ids, size, i, load<f32>(values + at), load<i32>(ids + at));
  }
  let lowest = load<f32>(values);
  for (let i = size; i < rows; i++) {
    if (!(i & 15)) i = skip(estimates, i, rows, lowest);
    if (i >= rows) break;
    const value = load<f32>(estimates + (<usize>i << 2));
    if (value > lowest) {
      sink(values, ids, size, 0, value, i);
      lowest = load<f32>(values);
    }
  }
}

/**
 * The next multiple of 16 at or after `from` where one of 16 estimates is above `lowest`, or the last one.
 */
// @ts-ignore: decorator
@inline
function skip(estimates: usize, from: i32, rows: i32, lowest: f32): i32 {
  const bound = f32x4.splat(lowest);
  let i = from;
  for (; i + 16 <= rows; i += 16) {
    const at = estimates + (<usize>i << 2);
    const first = f32x4.max(v128.load(at), v128.load(at, 16));
    const second = f32x4.max(v128.load(at, 32), v128.load(at, 48));
    if (v128.any_true(f32x4.gt(f32x4.max(first, second), bound))) break;
  }
  return i;
}

/** e^x for -87 <= x <= 0, to about 1e-7: 2^n times a polynomial (Cephes' expf). */
// @ts-ignore: decorator
@inline
function exp(x: v128): v128 {
  const n = f32x4.nearest(f32x4.mul(x, f32x4.splat(1.44269504088896341)));
  let r = f32x4.sub(x, f32x4.mul(n, f32x4.splat(0.693359375)));
  r = f32x4.add(r, f32x4.mul(n, f32x4.splat(2.12194440e-4)));
  let p = f32x4.splat(1.9875691500e-4);
  p = f32x4.add(f32x4.mul(p, r), f32x4.splat(1.3981999507e-3));
  p = f32x4.add(f32x4.mul(p, r), f32x4.splat(8.3334519073e-3));
  p = f32x4.add(f32x4.mul(p, r), f32x4.splat(4.1665795894e-2));
  p = f32x4.add(f32x4.mul(p, r), f32x4.splat(1.6666665459e-1));
  p = f32x4.add(f32x4.mul(p, r), f32x4.splat(0.5));
  p = f32x4.add(f32x4.add(f32x4.mul(f32x4.mul(p, r), r), r), f32x4.splat(1));
  const power = i32x4.shl(i32x4.add(i32x4.trunc_sat_f32x4_s(n), i32x4.splat(127)), 23);
  return f32x4.mul(p, power);
}

/** tanh(x) by e^(-2|x|), to about 1e-7 of 1. */
// @ts-ignore: decorator
@inline
function tanh(x: v128): v128 {
  const small = exp(f32x4.max(f32x4.mul(f32x4.abs(x), f32x4.splat(-2)), f32x4.splat(-87)));
  const one = f32x4.splat(1);
  const size = f32x4.div(f32x4.sub(one, small), f32x4.add(one, small));
  return v128.bitselect(x, size, i32x4.splat(0x80000000));
}

/**
 * The sum of exp((logit - first) / temperature) over `rows` estimates that are above -infinity, with
 * logit = cap * tanh(factor * estimate / cap); cap 0: none. Exponents above 0 count as 0.
 */
export function weightOf(
  estimates: usize, rows: i32, factor: f32, cap: f32, first: f32, temperature: f32,
): f64 {
  const inverse = f32x4.splat(1 / temperature);
  let sum: f64 = 0;
  for (let i = 0; i < rows; i += 4) {
    const estimate = v128.load(estimates + (<usize>i << 2));
    let logit = f32x4.mul(estimate, f32x4.splat(factor));
    if (cap > 0) logit = f32x4.mul(tanh(f32x4.mul(logit, f32x4.splat(1 / cap))), f32x4.splat(cap));
    const exponent = f32x4.mul(f32x4.sub(logit, f32x4.splat(first)), inverse);
    let counts = f32x4.gt(exponent, f32x4.splat(-87));
    counts = v128.and(counts, f32x4.gt(estimate, f32x4.splat(-Infinity)));
    if (i + 4 > rows) counts = v128.and(counts, i32x4.lt_s(i32x4(0, 1, 2, 3), i32x4.splat(rows - i)));
    if (!v128.any_true(counts)) continue;
    const clamped = f32x4.min(f32x4.max(exponent, f32x4.splat(-87)), f32x4.splat(0));
    const weight = v128.and(exp(clamped), counts);
    sum += <f64>f32x4.extract_lane(weight, 0) + <f64>f32x4.extract_lane(weight, 1);
    sum += <f64>f32x4.extract_lane(weight, 2) + <f64>f32x4.extract_lane(weight, 3);
  }
  return sum;
}
