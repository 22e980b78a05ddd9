// The norm of rows of a model's table and the largest distance of two of them, searched once and kept.
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
/** `sensitivity`: the largest distance of two clipped rows; `exact`: searched, else 2C.
 * @typedef {{clip: number, sensitivity: number, exact: boolean}} Calibration */
/**
 * How much of a search is done, 0..1; what it throws ends it. @typedef {(done: number) => void} OnProgress
 */

const QUANTILE = 0.99;
// Multiplications that a search may take: some seconds of one worker of a phone. The terminal client allows
// itself a hundred times as many; where it has searched and this has not, 2C is the larger bound.
const MOST_PRODUCTS = 5e9;
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
  const { onProgress = () => {}, mostProducts = MOST_PRODUCTS } = options;
  const kept = await Kept.read(database, table);
  const rows = blocksOf(table);
  const norms = () => tableNorms(rows, table.rows, table.width, onProgress);
  const norm = clip ?? (await kept.get('quantile', async () => quantile(await norms())));
  if (!(norm > 0 && norm < Infinity)) {
    throw new NoiseSettingInvalid('the embedding table is all zeros; give a clip norm');
  }
  const products = (table.rows ** 2 * table.width) / 2;
  if (products > mostProducts) return { clip: norm, sensitivity: 2 * norm, exact: false };
  const search = () => largestDistance(rows, table.rows, table.width, norm, onProgress);
  const distance = await kept.get(`distance ${norm}`, search, 2 * norm);
  if (distance <= 0) {
    throw new NoiseSettingInvalid('all rows of the embedding table are equal; noise hides nothing');
  }
  return { clip: norm, sensitivity: distance, exact: true };
}

/** The norm that 99% of the rows do not exceed: numpy's quantile "higher". @param {Float64Array} norms */
function quantile(norms) {
  return norms.sort()[Math.ceil((norms.length - 1) * QUANTILE)];
}

/** @param {Table} table @returns {import('./mechanism/sensitivity.js').Rows} */
function blocksOf({ clean }) {
  return (start, stop) => clean(Array.from({ length: stop - start }, (_, i) => start + i));
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

  /**
   * The number kept as `name`, computed where none above 0 and up to `most` is.
   * @param {string} name @param {() => Promise<number>} compute @param {number} [most]
   */
  async get(name, compute, most = Number.MAX_VALUE) {
    const known = this._numbers.get(name) ?? 0;
    if (known > 0 && known <= most) return known;
    const found = await compute();
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
