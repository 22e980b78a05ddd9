import { kernelUnavailable } from './errors.js';
import { atHand } from './far_rows.js';
import { GpuLost, GpuRefused } from './gpu/errors.js';
import { loadKernels, newMemory } from './kernels.js';
import { layOut } from './plane/layout.js';
import { Plane } from './plane/plane.js';
import { ShardHead, noShortlist } from './shard_head.js';
import { ShardTable } from './table.js';

/** @typedef {import('../../types/gatelink.js').FloatName} FloatName */
/** @typedef {import('../../types/gatelink.js').ShardDescriptor} ShardDescriptor */
/** @typedef {import('../../types/gatelink.js').ShardReader} ShardReader */
/** @typedef {import('./shard_head.js').Estimator} Estimator */
/** @typedef {import('./gpu/plane_on_gpu.js').PlaneOnGpu} PlaneOnGpu */

/**
 * What a worker is asked to hold. `embedding` null: it is the head's table.
 *
 * @typedef {{shard: ShardDescriptor, dtype: FloatName}} Source
 * @typedef {object} Share
 * @property {number} hidden
 * @property {Source | null} head null: this worker has no rows of it
 * @property {Source | null} embedding
 * @property {boolean} compact whether a 4-bit plane names a shortlist
 * @property {Float32Array | null} bias of the head's shard
 * @property {import('./kernels.js').WasmChoice} kernel
 * @property {'never' | 'faster' | 'always'} gpu when it gives the estimates; 'always': software too
 * @property {number} workers with rows of the head
 *
 * @typedef {object} Means
 * @property {(descriptor: ShardDescriptor) => Promise<ShardReader>} openShard
 * @property {import('./kernels.js').ReadModule} readModule
 * @property {GPU} [gpu] of the browser
 * @property {import('./far_rows.js').Surroundings} [surroundings]
 * @property {() => Promise<Pick<typeof import('./gpu/open.js'), 'openOnGpu'>>} [loadGpu]
 *
 * @typedef {{layout: import('./plane/layout.js').Layout, memory: WebAssembly.Memory,
 *   kernels: import('./kernels.js').Kernels, name: string}} Place
 */

/**
 * What a worker holds: the files of its tables, and one WASM memory for their products. While the GPU gives
 * the estimates that memory has no plane; a plane whose GPU is lost comes back from its file.
 */
export class OpenShare {
  /** @param {Share} share @param {Means} means */
  constructor(share, means) {
    this._share = share;
    this._means = means;
    /** Needed again when a GPU is lost, offline too. @type {Map<string, ReturnType<Means['readModule']>>} */
    this._modules = new Map();
    /** @type {Map<Source, ShardReader>} */
    this._readers = new Map();
    /** @type {ShardHead | null} */
    this.head = null;
    /** @type {ShardTable | null} */
    this.embedding = null;
    /** @type {PlaneOnGpu | null} */
    this._onGpu = null;
    this._kernel = '';
    /** Whether a GPU failed, as against being slow or not there. */
    this.gpuLost = false;
    /** Whether scattered rows of the head are slow to read. */
    this.scarce = false;
  }

  /** @param {(fraction: number) => void} onProgress */
  async open(onProgress) {
    const place = await this._newPlace();
    const { head, embedding } = this._share;
    for (const source of [head, embedding]) {
      if (source) this._readers.set(source, await this._means.openShard(source.shard));
    }
    if (head && this._share.compact) await this._bringToHand(head);
    const plane = await this._fill(place, onProgress);
    if (plane) await this._tryGpu(plane, place);
  }

  /** Where every row is read anyway, the table is in memory as it is. @param {Source} head */
  async _bringToHand(head) {
    const stored = /** @type {ShardReader} */ (this._readers.get(head));
    const { reader, scarce } = await atHand(stored, this._share.workers, this._means.surroundings);
    this._readers.set(head, reader);
    this.scarce = scarce;
  }

  /** The kernel of the estimates, where there are any. */
  get kernel() {
    const kernel = this.head?.kernel ?? this._kernel;
    return kernel === 'webgpu' && !this._onGpu ? this._kernel : kernel;
  }

  /**
   * As the head's. Where the GPU is lost meanwhile, a plane in memory answers from then on.
   * @param {Float32Array} hidden @param {import('./shard_head.js').Wanted} wanted
   * @param {(fraction: number) => void} onProgress
   */
  async shortlist(hidden, wanted, onProgress) {
    try {
      return await this._ready.shortlist(hidden, wanted);
    } catch (error) {
      if (!(error instanceof GpuLost)) throw error;
      this.gpuLost = true;
    }
    this._leaveGpu();
    try {
      await this._fill(await this._newPlace(), onProgress);
    } catch {
      // Without memory for the plane every row is read; the next request tries again.
      return noShortlist();
    }
    return this._ready.shortlist(hidden, wanted);
  }

  close() {
    this._leaveGpu();
    this.head = null;
    this.embedding = null;
    for (const reader of this._readers.values()) reader.close();
    this._readers.clear();
  }

  get _ready() {
    return /** @type {ShardHead} */ (this.head);
  }

  /** @param {boolean} [elsewhere] whether the plane lies outside it @returns {Promise<Place>} */
  async _newPlace(elsewhere = false) {
    const { hidden, head, embedding, compact, bias, kernel } = this._share;
    const main = /** @type {Source} */ (head ?? embedding);
    const layout = layOut({
      hidden,
      rows: head?.shard.rows ?? 0,
      dtype: main.dtype,
      embeddingDtype: embedding?.dtype ?? main.dtype,
      compact: compact && head !== null,
      elsewhere,
      biased: bias !== null,
    });
    const memory = newMemory(layout.pages);
    const loaded = await loadKernels(kernel, (name) => this._module(name), memory);
    if (bias) new Float32Array(memory.buffer, layout.bias, layout.rows).set(bias);
    return { layout, memory, ...loaded };
  }

  /**
   * Opens tables and head in a new memory.
   * @param {Place} place @param {(fraction: number) => void} onProgress @returns {Promise<Plane | null>}
   */
  async _fill(place, onProgress) {
    const { head, compact, kernel } = this._share;
    const table = this._settle(place);
    if (!head || !table) return null;
    const plane = compact ? await Plane.open(table, place, kernel, onProgress) : null;
    if (!plane) await table.keep();
    this.head = new ShardHead(table, plane, place);
    return plane;
  }

  /** The tables over a memory; nothing keeps the one before. @param {Place} place */
  _settle(place) {
    const { head, embedding } = this._share;
    const ofHead = head && this._table(head, place);
    this.embedding = embedding ? this._table(embedding, place) : ofHead;
    this._kernel = place.name;
    return ofHead;
  }

  /** @param {Source} source @param {Place} place */
  _table(source, place) {
    const reader = /** @type {ShardReader} */ (this._readers.get(source));
    return new ShardTable(reader, source.dtype, place);
  }

  /**
   * Moves the plane to the GPU, where one is there and wanted.
   * @param {Plane} plane @param {Place} place
   */
  async _tryGpu(plane, place) {
    const { gpu: wish, workers } = this._share;
    const { gpu, loadGpu } = this._means;
    if (wish === 'never') return;
    try {
      if (!gpu || !loadGpu) throw new GpuRefused('the browser has no WebGPU here');
      const { openOnGpu } = await loadGpu();
      this._onGpu = await openOnGpu(gpu, plane, place, { forced: wish === 'always', workers });
      const smaller = await this._newPlace(true);
      this._onGpu.into(smaller);
      this.head = new ShardHead(/** @type {ShardTable} */ (this._settle(smaller)), this._onGpu, smaller);
    } catch (error) {
      // The plane in memory does the same.
      this._leaveGpu();
      this.gpuLost = error instanceof GpuLost;
      if (wish !== 'always') return;
      throw kernelUnavailable(error instanceof Error ? error.message : 'the GPU fails');
    }
  }

  _leaveGpu() {
    this._onGpu?.close();
    this._onGpu = null;
  }

  /** @param {string} name */
  _module(name) {
    const module = this._modules.get(name) ?? this._means.readModule(name);
    this._modules.set(name, module);
    return module;
  }
}
