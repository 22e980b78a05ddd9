import { AllRowsKept, LastRowsKept } from './kept_rows.js';

/** @typedef {import('../../types/gatelink.js').ShardReader} ShardReader */
/** @typedef {import('../common/errors.js').AppError} AppError */
/**
 * A shard as it is read. `scarce`: a row that is wanted may cost a call that takes long.
 * @typedef {{reader: ShardReader, scarce: boolean}} Reachable
 *
 * What tests give: a clock in milliseconds, and what rows in memory may take, of all workers together.
 * @typedef {{clock?: () => number, keptBytes?: number}} Surroundings
 */

const KEPT_BYTES = 2 ** 26;
// A file of a profile gives a row at once. In a private window each call asks another process, which takes far longer.
const FAR_MILLISECONDS = 0.02;
// The clocks of some browsers tick once a millisecond.
const CALLS = 64;
const LAPS = 3;

/**
 * A shard whose rows are at hand: where each call to its store takes long, its rows are kept in memory, all of
 * them where there is room, else those used last.
 * @param {ShardReader} reader @param {number} workers that do so
 * @param {Surroundings} [surroundings]
 * @returns {Promise<Reachable>}
 * @throws {AppError} those of reading rows
 */
export async function atHand(reader, workers, { clock = () => performance.now(), keptBytes = KEPT_BYTES } = {}) {
  if (!(await isFar(reader, clock))) return { reader, scarce: false };
  const room = Math.floor(keptBytes / workers / reader.rowBytes);
  try {
    if (reader.rows <= room) return { reader: await AllRowsKept.of(reader), scarce: false };
    return { reader: new LastRowsKept(reader, Math.max(1, room)), scarce: true };
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return { reader, scarce: true };
  }
}

/**
 * Whether a call takes long, whatever it reads: of one row again and again, which a disk gives only once.
 * @param {ShardReader} reader @param {() => number} clock
 */
async function isFar(reader, clock) {
  const row = Int32Array.of(Math.floor(reader.rows / 2));
  const into = new Uint8Array(reader.rowBytes);
  for (let lap = 0; lap < LAPS; lap++) {
    const start = clock();
    for (let call = 0; call < CALLS; call++) {
      const reading = reader.readRows(row, into);
      if (reading) await reading;
    }
    if (clock() - start < CALLS * FAR_MILLISECONDS) return false;
  }
  return true;
}
