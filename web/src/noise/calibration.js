// The norm of rows of a model's table and how far two of them can be apart, worked out once and kept: the rule
// of the terminal client, so that the same noise has the same epsilon in both.
import { asked } from './database.js';
import { NoiseSettingInvalid } from './errors.js';
import { digestOf } from './ledger/document.js';
import { largestDistance, tableNorms } from './mechanism/sensitivity.js';

/** @typedef {import('./database.js').NoiseDatabase} NoiseDatabase */
/**
 * Rows as a model without noise would see them, in float32 whatever they travel as, so that one search holds
 * for every dtype. `sha256`: of the file, `scale`: the family's factor.
 * @typedef {{clean: (ids: number[]) => Promise<Float32Array>, rows: number, width: number, sha256: string,
 *   scale: number | null}} Table
 */
/** No two clipped rows are more than `sensitivity` apart; `exact`: two are that far, else it is a bound.
 * @typedef {{clip: number, sensitivity: number, exact: boolean}} Calibration */
/**
 * How much of a search is done, 0..1; what it throws ends it. @typedef {(done: number) => void} OnProgress
 */

const QUANTILE = 0.99;
const FORMAT = 1;
const MOST_KEPT = 64;

/**
 * The clip norm, where null is given, and the sensitivity.
 * @param {Table} table @param {number | null} clip @param {NoiseDatabase} database
 * @param {{onProgress?: OnProgress, mostProducts?: number}} [options]
 * @returns {Promise<Calibration>}
 * @throws {NoiseSettingInvalid} for a table of which no noise can be made
 */
export async function calibrate(table, clip, database, options = {}) {
  const kept = await Kept.read(database, table);
  const norm = clip ?? kept.find('quantile') ?? (await kept.keep('quantile', await quantile(table, options)));
  if (!(norm > 0 && norm < Infinity)) {
    throw new NoiseSettingInvalid('the embedding table is all zeros; give a clip norm');
  }
  const { distance, exact } = await farthest(table, norm, kept, options);
  if (distance <= 0) {
    throw new NoiseSettingInvalid('all rows of the embedding table are equal; noise hides nothing');
  }
  return { clip: norm, sensitivity: distance, exact };
}

/** As kept, where that can be true, else searched. Bounds have a name of their own.
 * @param {Table} table @param {number} norm @param {Kept} kept
 * @param {{onProgress?: OnProgress, mostProducts?: number}} options */
async function farthest({ clean, rows, width }, norm, kept, options) {
  const [distance, bound] = [`distance ${norm}`, `bound ${norm}`];
  for (const name of [distance, bound]) {
    const known = kept.find(name, 2 * norm);
    if (known !== null) return { distance: known, exact: name === distance };
  }
  const found = await largestDistance(clean, rows, width, norm, options);
  await kept.keep(found.exact ? distance : bound, found.distance);
  return found;
}

/** The norm that 99% of the rows do not exceed: numpy's quantile "higher".
 * @param {Table} table @param {{onProgress?: OnProgress}} options */
async function quantile({ clean, rows, width }, { onProgress }) {
  const norms = (await tableNorms(clean, rows, width, onProgress)).sort();
  return norms[Math.ceil((norms.length - 1) * QUANTILE)];
}

/** Numbers of one table by name; a record that is damaged counts as none. */
class Kept {
  /** @param {NoiseDatabase} database @param {string} table @param {Map<string, number>} numbers */
  constructor(database, table, numbers) {
    this._database = database;
    this._table = table;
    this._numbers = numbers;
  }

  /** @param {NoiseDatabase} database @param {Table} table */
  static async read(database, { sha256, rows, width, scale }) {
    const name = `${FORMAT} ${sha256} ${rows} ${width} ${scale}`;
    const stored = await database.run('readonly', (stores) => asked(stores('tables').get(name)));
    return new Kept(database, name, numbersIn(name, stored));
  }

  /** The number kept as `name` where it is above 0 and up to `most`, else null.
   * @param {string} name @param {number} [most] */
  find(name, most = Number.MAX_VALUE) {
    const known = this._numbers.get(name) ?? 0;
    return known > 0 && known <= most ? known : null;
  }

  /** Also for the next visit. @param {string} name @param {number} found */
  async keep(name, found) {
    this._numbers.set(name, found);
    const text = JSON.stringify([...this._numbers].slice(-MOST_KEPT));
    const record = { text, sha256: digestOf(this._table + text) };
    await this._database.run('readwrite', async (stores) => void stores('tables').put(record, this._table));
    return found;
  }
}

/** @param {string} table @param {unknown} stored @returns {Map<string, number>} */
function numbersIn(table, stored) {
  const { text, sha256 } = /** @type {{text?: unknown, sha256?: unknown}} */ (Object(stored));
  if (typeof text !== 'string' || sha256 !== digestOf(table + text)) return new Map();
  try {
    return new Map(JSON.parse(text));
  } catch {
    return new Map();
  }
}
