import { endsFailed, tokenIdOutOfRange, weightsSizeMismatch } from './errors.js';
import { ShardedHead } from './head.js';
import { WorkerLink } from './links.js';
import { checkSpec } from './spec.js';

/** @typedef {import('../../types/gatelink.js').Manifest} Manifest */
/** @typedef {import('../../types/gatelink.js').ShardDescriptor} ShardDescriptor */
/** @typedef {import('./spec.js').Spec} Spec */
/** @typedef {import('./kernels.js').KernelChoice} KernelChoice */
/** @typedef {import('./open_share.js').Share} Share */

/** Below this many weights a full product costs less than it takes to avoid it. */
const COMPACT_FROM = 4_000_000;
/** Seconds that workers get to let go of their files. */
const CLOSING = 2;
/** A GPU that was lost once is not tried again by whoever lives in this thread. */
const SESSION = { gpuLost: false };

/**
 * @typedef {object} EndsOptions
 * @property {Manifest} manifest
 * @property {{embedding: ShardDescriptor[], head: ShardDescriptor[]}} shards of the two tables, in the order
 *   of their rows; a tied table has the same descriptors twice
 * @property {Spec} spec
 * @property {() => Worker} [spawn] a new worker of worker.js; given, there are workers whatever the size
 * @property {() => Promise<{Here: new () => import('./here.js').Here}>} [here] what does without one
 * @property {(fraction: number) => void} [onPrepare] how much of the planes is derived, 0..1
 * @property {KernelChoice} [kernel]
 * @property {number} [patience] seconds that a worker may be silent
 * @property {number} [compactFrom] weights of the head from which a 4-bit plane is worth it
 * @property {{gpuLost: boolean}} [session] what is remembered after these ends
 */

/** Embedding rows and LM head, over workers that each hold a shard of the tables. */
export class Ends {
  /** @param {EndsOptions} options */
  constructor(options) {
    const { manifest, shards, spec, spawn = spawnBesideBundle, patience } = options;
    const { compactFrom = COMPACT_FROM } = options;
    this._session = options.session ?? SESSION;
    this._manifest = manifest;
    this._shards = shards;
    /** @type {WorkerLink[]} */
    this._links = [];
    const count = Math.max(shards.head.length, shards.embedding.length);
    for (let i = 0; i < count; i++) {
      this._links.push(new WorkerLink(spawn(), (error) => this._fail(error), patience));
    }
    /** @type {string[]} of the workers with rows of the head */
    this._kernels = [];
    this.workers = count;
    const { hiddenSize, head } = manifest;
    const compact = head.rows * hiddenSize >= compactFrom;
    const parts = shards.head.map(({ first, rows }, i) => ({ link: this._links[i], first, rows }));
    const scarce = shards.head.some(({ kind }) => kind === 'indexeddb');
    this.head = new ShardedHead(parts, { rows: head.rows, hiddenSize, compact, spec, scarce });
  }

  /**
   * Starts the workers; derives 4-bit planes where none are stored yet.
   * @param {EndsOptions} options
   * @returns {Promise<Ends>}
   * @throws {EndsError} invalid_head_spec, weights_size_mismatch, weights_not_finite, kernel_unavailable,
   *   ends_failed
   */
  static async open(options) {
    const { manifest, shards, spec } = options;
    checkSpec(spec, manifest.head.rows);
    checkCover(shards.head, manifest.head.rows);
    checkCover(shards.embedding, manifest.embedding.rows);
    const ends = new Ends({ ...options, spawn: options.spawn ?? (await placeOf(options)) });
    try {
      await ends._open(options);
    } catch (error) {
      await ends.close();
      throw error;
    }
    return ends;
  }

  /** The kernels that the workers run: 'webgpu', 'relaxed', 'simd'; with commas where they differ. */
  get kernel() {
    return [...new Set(this._kernels)].join(', ');
  }

  /**
   * Embedding rows, widened to float32 and not scaled.
   * @param {Int32Array} ids [n]
   * @returns {Promise<Float32Array>} [n * hidden]
   * @throws {EndsError} token_id_out_of_range, weights_not_finite, ends_failed
   */
  async rows(ids) {
    const { hiddenSize, embedding } = this._manifest;
    const outside = ids.find((id) => id < 0 || id >= embedding.rows);
    if (outside !== undefined) throw tokenIdOutOfRange(outside, embedding.rows);
    const values = new Float32Array(ids.length * hiddenSize);
    const all = Array.from(ids, (_, i) => i);
    const jobs = this._shards.embedding.map(async ({ first, rows }, shard) => {
      const places = all.filter((i) => ids[i] >= first && ids[i] < first + rows);
      if (!places.length) return;
      const wanted = Int32Array.from(places, (i) => ids[i] - first);
      const found = await this._links[shard].ask('rows', { rows: wanted });
      places.forEach((place, i) =>
        values.set(found.subarray(i * hiddenSize, (i + 1) * hiddenSize), place * hiddenSize),
      );
    });
    await Promise.all(jobs);
    return values;
  }

  /** Ends the workers; their files are free when this has resolved. */
  async close() {
    const letGo = Promise.allSettled(this._links.map((link) => link.ask('close')));
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    let timer;
    const late = new Promise((resolve) => (timer = setTimeout(resolve, CLOSING * 1000)));
    await Promise.race([letGo, late]);
    clearTimeout(timer);
    this._fail(endsFailed('they are closed'));
  }

  /** @param {EndsOptions} options */
  async _open({ spec, kernel = 'auto', onPrepare = () => {} }) {
    const done = this._links.map(() => 0);
    const opened = this._links.map((link, i) =>
      link.ask('open', { share: this._share(i, spec, kernel) }, (fraction) => {
        done[i] = fraction;
        onPrepare(done.reduce((a, b) => a + b, 0) / done.length);
      }),
    );
    const answers = await Promise.all(opened);
    this._kernels = answers.slice(0, this._shards.head.length).map(({ kernel: name }) => name);
    if (answers.some(({ gpuLost }) => gpuLost)) this._session.gpuLost = true;
    if (answers.some(({ scarce }) => scarce)) this.head.scarce = true;
    this._links.forEach((link, i) => (link.onKernel = (name) => this._leftGpu(i, name)));
    onPrepare(1);
  }

  /** A GPU was lost; the worker's estimates go on. @param {number} i @param {string} kernel */
  _leftGpu(i, kernel) {
    this._kernels[i] = kernel;
    this._session.gpuLost = true;
  }

  /**
   * What worker `i` holds.
   * @param {number} i @param {Spec} spec @param {KernelChoice} kernel
   * @returns {Share}
   */
  _share(i, spec, kernel) {
    const head = this._shards.head[i] ?? null;
    const embedding = this._shards.embedding[i] ?? null;
    const { hiddenSize, head: ofHead, embedding: ofEmbedding } = this._manifest;
    return {
      hidden: hiddenSize,
      head: head && { shard: head, dtype: ofHead.dtype },
      embedding: embedding && !same(embedding, head) ? { shard: embedding, dtype: ofEmbedding.dtype } : null,
      compact: this.head.compact,
      bias: head && spec.bias ? spec.bias.slice(head.first, head.first + head.rows) : null,
      kernel: kernel === 'webgpu' ? 'auto' : kernel,
      gpu: this._wish(kernel),
      workers: this._shards.head.length,
    };
  }

  /** When the GPU gives the estimates. @param {KernelChoice} kernel */
  _wish(kernel) {
    if (kernel === 'webgpu') return /** @type {const} */ ('always');
    return kernel === 'auto' && !this._session.gpuLost ? 'faster' : 'never';
  }

  /** One worker less is no LM head. @param {Error} error */
  _fail(error) {
    for (const link of this._links) link.close(error);
  }
}

/** @param {ShardDescriptor} a @param {ShardDescriptor | null} b */
function same(a, b) {
  return b !== null && a.kind === b.kind && a.first === b.first && a.rows === b.rows
    && a.bytes === b.bytes && a.path.join('/') === b.path.join('/');
}

/** @param {ShardDescriptor[]} shards @param {number} rows */
function checkCover(shards, rows) {
  let next = 0;
  for (const shard of shards) {
    if (shard.first !== next || shard.rows <= 0) {
      throw weightsSizeMismatch('a shard of the weights is missing');
    }
    next += shard.rows;
  }
  if (next !== rows) throw weightsSizeMismatch(`${next} of ${rows} rows are stored`);
}

/**
 * Where the shares are held: one of a small head in this thread.
 * @param {EndsOptions} options @returns {Promise<() => Worker>}
 */
async function placeOf({ manifest, shards, compactFrom = COMPACT_FROM, here = () => import('./here.js') }) {
  const small = manifest.head.rows * manifest.hiddenSize < compactFrom;
  if (!small || shards.head.length > 1 || shards.embedding.length > 1) return spawnBesideBundle;
  try {
    const { Here } = await here();
    return () => /** @type {Worker} */ (/** @type {unknown} */ (new Here()));
  } catch {
    // The file is not there; a worker does the same.
    return spawnBesideBundle;
  }
}

/** @returns {Worker} */
function spawnBesideBundle() {
  return new Worker(new URL('./ends.js', import.meta.url), { type: 'module' });
}
