const SAMPLE_BLOCKS = 64;
const SAMPLE_ROWS = 64;
const EXPONENT_RANGE = 20;

/** @typedef {import('../table.js').ShardTable} ShardTable */

/**
 * Powers of two near each column's root mean square over sampled rows of norm one: a few huge elements of a
 * hidden state meet small columns, and neither may set the step of their neighbours.
 * @param {ShardTable} table @returns {Promise<Float32Array>} [hidden]
 */
export async function columnScales(table) {
  const squares = new Float64Array(table.hidden);
  const step = Math.max(SAMPLE_ROWS, Math.floor(table.rows / SAMPLE_BLOCKS));
  for (let start = 0; start < table.rows; start += step) {
    const count = Math.min(SAMPLE_ROWS, table.rows - start);
    await addSquares(table, start, count, squares);
  }
  const largest = squares.reduce((a, b) => Math.max(a, b), 0);
  if (largest === 0) return new Float32Array(table.hidden).fill(1);
  return Float32Array.from(squares, (square) => powerNear(square / largest));
}

/** @param {number} square */
function powerNear(square) {
  const exponent = roundHalfEven(0.5 * Math.log2(Math.max(square, 2 ** -200)));
  return 2 ** Math.max(exponent, -EXPONENT_RANGE);
}

/** @param {number} value */
function roundHalfEven(value) {
  const low = Math.floor(value);
  if (value - low !== 0.5) return Math.round(value);
  return low % 2 === 0 ? low : low + 1;
}

/** @param {ShardTable} table @param {number} start @param {number} count @param {Float64Array} squares */
async function addSquares(table, start, count, squares) {
  const { hidden } = table;
  const rows = await table.widened(Int32Array.from({ length: count }, (_, i) => start + i));
  for (let row = 0; row < count; row++) {
    const values = rows.subarray(row * hidden, (row + 1) * hidden);
    let norm = 0;
    for (let i = 0; i < hidden; i++) norm += values[i] * values[i];
    if (norm === 0) continue;
    for (let i = 0; i < hidden; i++) squares[i] += (values[i] * values[i]) / norm;
  }
}
