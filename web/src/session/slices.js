// How rows that are to be sent are cut into steps, and whose states each of them asks for.

/**
 * One step: the positions from `start` to `stop`, of whose last `rows` the states come back.
 * @typedef {{start: number, stop: number, rows: number}} Slice
 */

/**
 * The steps that bring a cache from `start` to `end` positions and return the states of the last `rows` of them.
 *
 * A step returns the state of its last row at least. A server that returns the last row or all of them is asked for all
 * of a short step; a long prompt it is sent first, and behind it the rows whose states are wanted.
 * @param {number} start @param {number} end above `start`
 * @param {number} rows 1 to end - start
 * @param {{maxRows: number, returnsRows: boolean, interactiveRows: number}} server rows of one step; whether it returns
 *   the states of any number of them; how many make a short one
 * @returns {Slice[]}
 */
export function slicesOf(start, end, rows, { maxRows, returnsRows, interactiveRows }) {
  const first = end - rows;
  /** @type {Slice[]} */
  const slices = [];
  for (let at = start; at < end; ) {
    const mixed = !returnsRows && rows > 1 && at < first;
    const whole = mixed && end - at <= Math.min(interactiveRows, maxRows);
    const stop = Math.min(at + maxRows, mixed && !whole ? first : end);
    slices.push({ start: at, stop, rows: whole ? stop - at : Math.max(1, stop - Math.max(at, first)) });
    at = stop;
  }
  return slices;
}

/**
 * The last `rows` states that the answers to those steps brought.
 * @param {Float32Array[]} answers [rows * H] of each of `slices`
 * @param {Slice[]} slices @param {number} rows
 * @returns {{states: Float32Array, hidden: Float32Array}} [rows * H], and the last of them [H]
 */
export function lastStates(answers, slices, rows) {
  const width = answers[answers.length - 1].length / slices[slices.length - 1].rows;
  const states = joined(answers).subarray(-rows * width);
  return { states, hidden: states.subarray(-width) };
}

/** @param {Float32Array[]} parts */
function joined(parts) {
  if (parts.length === 1) return parts[0];
  const whole = new Float32Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}
