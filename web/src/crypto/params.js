// The one parameter set of encrypted adapters (docs/ckks.md), as common/split_he/params.py has it.

/** Coefficients of a polynomial. */
export const N = 2048;
/** Half of the 54-bit prime 18014398509404161, rounded down; the prime itself is beyond whole doubles. */
export const HALF_Q = 9007199254702080;
export const SEED_BYTES = 32;
/** A polynomial: residues of 54 bits without a gap. */
export const POLYNOMIAL_BYTES = (N * 54) / 8;
