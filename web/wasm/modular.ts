// Exact arithmetic modulo the one prime of encrypted adapters, as common/split_he/modular.py has it: the low 64
// bits of a product come from wrapping multiplication, and the multiple of Q to take away is estimated in
// float64, which leaves a number of a few Q, exact modulo Q. Numbers are centred: within about -Q/2..Q/2.

export const Q: i64 = 18014398509404161;
export const HALF: i64 = 9007199254702080;
const INVERSE: f64 = 1.0 / 18014398509404161.0;

/** Any number within 512 Q, reduced to -Q/2..Q/2, at the edges up to 3,072 beyond. */
// @ts-ignore: decorator
@inline
export function centre(value: i64): i64 {
  return value - <i64>nearest<f64>(<f64>value * INVERSE) * Q;
}

/** value * factor modulo Q, within (3.51 k + 1) Q for a `value` within k Q, k up to 140; `overQ`: factor / Q. */
// @ts-ignore: decorator
@inline
export function timesLoosely(value: i64, factor: i64, overQ: f64): i64 {
  return value * factor - <i64>(<f64>value * overQ) * Q;
}

// @ts-ignore: decorator
@inline
export function times(value: i64, factor: i64, overQ: f64): i64 {
  return centre(timesLoosely(value, factor, overQ));
}

/** What timesLoosely wants of a factor. */
// @ts-ignore: decorator
@inline
export function quotient(value: i64): f64 {
  return <f64>value / 18014398509404161.0;
}

/** A centred number as the residue 0..Q-1. */
// @ts-ignore: decorator
@inline
export function residue(value: i64): u64 {
  return <u64>(value + ((value >> 63) & Q));
}

/** A residue as a centred number. */
// @ts-ignore: decorator
@inline
export function centred(value: u64): i64 {
  return <i64>value > HALF ? <i64>value - Q : <i64>value;
}
