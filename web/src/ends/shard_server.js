import { AppError, describeError } from '../common/errors.js';
import { EndsError, endsFailed } from './errors.js';
import { layOut } from './layout.js';
import { loadKernels, newMemory } from './kernels.js';
import { Plane } from './plane.js';
import { ShardHead } from './shard_head.js';
import { ShardTable } from './table.js';

/** @typedef {import('../../types/gatelink.js').FloatName} FloatName */
/** @typedef {import('../../types/gatelink.js').ShardDescriptor} ShardDescriptor */
/** @typedef {import('../../types/gatelink.js').ShardReader} ShardReader */

/**
 * What a worker is asked to hold. `embedding` null: it is the head's table.
 *
 * @typedef {object} Share
 * @property {number} hidden
 * @property {{shard: ShardDescriptor, dtype: FloatName} | null} head null: this worker has no rows of it
 * @property {{shard: ShardDescriptor, dtype: FloatName} | null} embedding
 * @property {boolean} compact whether a 4-bit plane names a shortlist
 * @property {Float32Array | null} bias of the head's shard
 * @property {import('./kernels.js').KernelChoice} kernel
 *
 * @typedef {{id: number, type: string, [field: string]: any}} Request
 *
 * @typedef {object} Means
 * @property {(descriptor: ShardDescriptor) => Promise<ShardReader>} openShard
 * @property {import('./kernels.js').ReadModule} readModule
 * @property {(message: object, transfer?: Transferable[]) => void} post
 */

/** Answers the requests of an engine, one after the other, in the order they came. */
export class ShardServer {
  /** @param {Means} means */
  constructor(means) {
    this._means = means;
    this._last = Promise.resolve();
    /** @type {ShardReader[]} */
    this._readers = [];
    /** @type {ShardHead | null} */
    this._head = null;
    /** @type {ShardTable | null} */
    this._embedding = null;
  }

  /** Takes one request; its answer is posted. @param {Request} request */
  receive(request) {
    this._last = this._last.then(() => this._answer(request));
    return this._last;
  }

  /** @param {Request} request */
  async _answer(request) {
    try {
      const result = await this._result(request);
      this._means.post({ id: request.id, result }, buffersOf(result));
    } catch (error) {
      this._means.post({ id: request.id, error: describeError(typed(error)) });
    }
  }

  /** @param {Request} request @returns {Promise<any>} */
  async _result(request) {
    const head = /** @type {ShardHead} */ (this._head);
    switch (request.type) {
      case 'open':
        return this._open(request.share, (fraction) =>
          this._means.post({ id: request.id, progress: fraction }),
        );
      case 'shortlist':
        return head.shortlist(request.hidden, request.wanted);
      case 'longer':
        return head.longer(request.wanted);
      case 'products':
        return head.products(request.hidden, request.rows);
      case 'allProducts':
        return head.allProducts(request.hidden);
      case 'rows':
        return /** @type {ShardTable} */ (this._embedding).widened(request.rows);
      case 'close':
        return this._close();
      default:
        throw new EndsError('unknown_request', `a worker of the ends knows no ${request.type}`);
    }
  }

  /** @param {Share} share @param {(fraction: number) => void} onProgress */
  async _open(share, onProgress) {
    const main = /** @type {NonNullable<Share['head']>} */ (share.head ?? share.embedding);
    const layout = layOut({
      hidden: share.hidden,
      rows: share.head?.shard.rows ?? 0,
      dtype: main.dtype,
      embeddingDtype: share.embedding?.dtype ?? main.dtype,
      compact: share.compact && share.head !== null,
      biased: share.bias !== null,
    });
    const memory = newMemory(layout.pages);
    const { kernels, name } = await loadKernels(share.kernel, this._means.readModule, memory);
    const place = { layout, memory, kernels };
    const table = share.head && (await this._table(share.head, place));
    if (share.bias) new Float32Array(memory.buffer, layout.bias, layout.rows).set(share.bias);
    if (table) this._head = await openHead(table, place, share, onProgress);
    this._embedding = share.embedding ? await this._table(share.embedding, place) : table;
    return { kernel: this._head?.kernel ?? name };
  }

  /**
   * @param {{shard: ShardDescriptor, dtype: FloatName}} source
   * @param {{layout: import('./layout.js').Layout, memory: WebAssembly.Memory,
   *   kernels: import('./kernels.js').Kernels}} place
   */
  async _table({ shard, dtype }, place) {
    const reader = await this._means.openShard(shard);
    this._readers.push(reader);
    return new ShardTable(reader, dtype, place);
  }

  _close() {
    this._head = null;
    this._embedding = null;
    this._readers.splice(0).forEach((reader) => reader.close());
  }
}

/**
 * @param {ShardTable} table
 * @param {{layout: import('./layout.js').Layout, memory: WebAssembly.Memory,
 *   kernels: import('./kernels.js').Kernels}} place
 * @param {Share} share @param {(fraction: number) => void} onProgress
 */
async function openHead(table, place, { compact, kernel }, onProgress) {
  if (compact) return new ShardHead(table, await Plane.open(table, place, kernel, onProgress), place);
  await table.keep();
  return new ShardHead(table, null, place);
}

/** @param {unknown} error */
function typed(error) {
  if (error instanceof AppError) return error;
  // A memory that cannot be had is a RangeError.
  return endsFailed(error instanceof RangeError ? 'not enough memory' : 'a worker failed', error);
}

/** Buffers that an answer may take along. @param {any} result @returns {Transferable[]} */
function buffersOf(result) {
  const values = ArrayBuffer.isView(result) ? [result] : Object.values(result ?? {});
  const views = values.filter(ArrayBuffer.isView);
  return [...new Set(views.map((view) => /** @type {ArrayBuffer} */ (view.buffer)))];
}
