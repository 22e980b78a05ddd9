import { writeActivation } from './activation.js';
import { columnScales } from './columns.js';
import { weightsNotFinite } from '../errors.js';
import { GROUP, PLANE_HEADER } from './layout.js';
import { PlaneFile } from './file.js';
import { fastestEstimate } from './fastest.js';

/** @typedef {import('./layout.js').Layout} Layout */
/** @typedef {import('../kernels.js').Kernels} Kernels */
/** @typedef {import('../kernels.js').Estimate} Estimate */
/** @typedef {import('../table.js').ShardTable} ShardTable */

/** The 4-bit plane of a shard, in WASM memory: an estimate of every row . hidden. */
export class Plane {
  /**
   * @param {{layout: Layout, memory: WebAssembly.Memory, kernels: Kernels}} place
   */
  constructor({ layout, memory, kernels }) {
    const { buffer } = memory;
    this._layout = layout;
    this._columns = new Float32Array(buffer, layout.planeFile + PLANE_HEADER, layout.padded);
    this._views = {
      bytes: new Int8Array(buffer, layout.bytes8, layout.padded),
      words: new Int16Array(buffer, layout.words16, layout.padded),
      factors: new DataView(buffer, layout.factors, 8 * layout.blocks),
    };
    this.estimates = new Float32Array(buffer, layout.estimates, layout.rows);
    this._kernels = kernels;
    /** @type {{estimate: Estimate, x: number, name: 'relaxed' | 'simd'}} */
    this._fastest = { estimate: kernels.estimate, x: layout.words16, name: 'simd' };
  }

  /**
   * The plane of `table`, from beside it or derived now.
   * @param {ShardTable} table
   * @param {{layout: Layout, memory: WebAssembly.Memory, kernels: Kernels}} place
   * @param {import('../kernels.js').KernelChoice} choice
   * @param {(fraction: number) => void} onProgress
   * @returns {Promise<Plane>}
   * @throws {EndsError} weights_not_finite
   */
  static async open(table, place, choice, onProgress) {
    const file = new PlaneFile(table.reader, place);
    const plane = new Plane(place);
    if (!(await file.read())) {
      await plane._derive(table, place.memory, onProgress);
      await file.write();
    }
    plane._fastest = fastestEstimate(plane, place, choice);
    return plane;
  }

  /** The kernel that gives the estimates. */
  get kernel() {
    return this._fastest.name;
  }

  /** Estimates of every row . hidden of the shard, into `estimates`. @param {Float32Array} hidden */
  estimate(hidden) {
    const { planeRows, rows, blocks, factors, estimates } = this._layout;
    this.activate(hidden);
    const { estimate, x } = this._fastest;
    estimate(planeRows, GROUP * Math.ceil(rows / GROUP), blocks, x, factors, estimates);
  }

  /** The activation of the estimates that follow. @param {Float32Array} hidden */
  activate(hidden) {
    writeActivation(hidden, this._columns, this._views);
  }

  /**
   * @param {ShardTable} table @param {WebAssembly.Memory} memory
   * @param {(fraction: number) => void} onProgress
   */
  async _derive(table, memory, onProgress) {
    const { hidden, inverse, rowScratch, planeRows, padded } = this._layout;
    const { dtypeCode, reader } = table;
    this._columns.fill(1).set(await columnScales(table));
    const inverses = new Float32Array(memory.buffer, inverse, padded).fill(0);
    for (let i = 0; i < hidden; i++) inverses[i] = 1 / this._columns[i];
    for (let start = 0; start < table.rows; start += table.atOnce) {
      const count = Math.min(table.atOnce, table.rows - start);
      const source = await table.load(start, count);
      const shape = /** @type {const} */ ([start, count, hidden]);
      const bad = this._kernels.quantise(dtypeCode, source, ...shape, inverse, rowScratch, planeRows);
      if (bad >= 0) throw weightsNotFinite(reader.first + start + bad);
      onProgress((start + count) / table.rows);
    }
  }
}
