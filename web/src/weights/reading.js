const DERIVED_NAME = /^[a-z0-9_-]{1,32}$/;

/** @param {string} name @returns {string} the name, which becomes part of a file's */
export function checkDerivedName(name) {
  if (!DERIVED_NAME.test(name)) throw new RangeError('a derived file needs a plain name');
  return name;
}

/**
 * @param {number} start @param {number} count @param {number} limit how many there are
 * @param {Uint8Array} into @param {number} width bytes of each
 */
export function checkRange(start, count, limit, into, width) {
  if (!(start >= 0 && count >= 0 && start + count <= limit)) throw new RangeError('rows beyond the shard');
  if (into.length < count * width) throw new RangeError('the target is too small');
}

/**
 * Calls `read(start, count, at)` for each run of neighbouring rows; `at` is the place of its first in
 * `indices`.
 * @param {Int32Array} indices
 * @param {number} rows
 * @param {Uint8Array} into
 * @param {number} width
 * @param {(start: number, count: number, at: number) => void|Promise<void>} read
 * @returns {Promise<void>[]} what has not ended yet
 */
export function eachRun(indices, rows, into, width, read) {
  checkIndices(indices, rows, into, width);
  const waiting = [];
  for (let at = 0, count = 1; at < indices.length; at += count, count = 1) {
    while (at + count < indices.length && indices[at + count] === indices[at] + count) count += 1;
    const reading = read(indices[at], count, at);
    if (reading) waiting.push(reading);
  }
  return waiting;
}

/**
 * @param {Int32Array} indices
 * @param {number} rows
 * @param {Uint8Array} into
 * @param {number} width bytes of a row
 */
export function checkIndices(indices, rows, into, width) {
  if (into.length < indices.length * width) throw new RangeError('the target is too small');
  for (const index of indices)
    if (!(index >= 0 && index < rows)) throw new RangeError('a row beyond the shard');
}
