// Norms of rows and rows of bounded norm, in double precision, with the sums in numpy's order.
//
// A sum in another order may differ in its last bit, and a row that is scaled by it could then fall on
// another step of the noise's grid.

// numpy adds up to this many numbers in eight strands, and halves what is longer.
const STRANDED = 128;
// The smallest normal double: a row of zeros is not divided by.
const TINY = 2.2250738585072014e-308;

/**
 * The Euclidean norms of rows.
 * @param {Float32Array} rows [n * width] @param {number} width @returns {Float64Array} [n]
 */
export function normsOf(rows, width) {
  const norms = new Float64Array(rows.length / width);
  for (let row = 0; row < norms.length; row++) norms[row] = Math.sqrt(squares(rows, row * width, width));
  return norms;
}

/**
 * Rows whose norm is at most `clip`, in the direction they had.
 * @param {Float32Array} rows [n * width] @param {number} width @param {number} clip @returns {Float64Array}
 */
export function clipped(rows, width, clip) {
  const scaled = new Float64Array(rows.length);
  normsOf(rows, width).forEach((norm, row) => {
    const factor = Math.min(1, clip / Math.max(norm, TINY));
    for (let i = row * width; i < (row + 1) * width; i++) scaled[i] = rows[i] * factor;
  });
  return scaled;
}

/** The sum of squares of `count` values, pairwise (Higham 1993). @param {Float32Array} values
 * @param {number} from @param {number} count @returns {number} */
function squares(values, from, count) {
  if (count < 8) {
    let sum = 0;
    for (let i = from; i < from + count; i++) sum += values[i] * values[i];
    return sum;
  }
  if (count <= STRANDED) return stranded(values, from, count);
  const half = Math.floor(count / 2) - (Math.floor(count / 2) % 8);
  return squares(values, from, half) + squares(values, from + half, count - half);
}

/** @param {Float32Array} values @param {number} from @param {number} count at least 8 */
function stranded(values, from, count) {
  const s = Array.from({ length: 8 }, (_, i) => values[from + i] * values[from + i]);
  const whole = count - (count % 8);
  for (let i = 8; i < whole; i++) s[i % 8] += values[from + i] * values[from + i];
  let sum = s[0] + s[1] + (s[2] + s[3]) + (s[4] + s[5] + (s[6] + s[7]));
  for (let i = from + whole; i < from + count; i++) sum += values[i] * values[i];
  return sum;
}
