import { AppError, describeError } from '../common/errors.js';
import { EndsError, endsFailed } from './errors.js';
import { OpenShare } from './open_share.js';

/** @typedef {import('./open_share.js').Share} Share */
/** @typedef {import('./shard_head.js').ShardHead} ShardHead */
/** @typedef {import('./table.js').ShardTable} ShardTable */
/**
 * @typedef {{id: number, type: string, [field: string]: any}} Request
 *
 * @typedef {import('./open_share.js').Means
 *   & {post: (message: object, transfer?: Transferable[]) => void}} Means
 */

/** Answers the requests of an engine, one after the other, in the order they came. */
export class ShardServer {
  /** @param {Means} means */
  constructor(means) {
    this._means = means;
    this._last = Promise.resolve();
    /** @type {OpenShare | null} */
    this._open = null;
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
    const open = /** @type {OpenShare} */ (this._open);
    const head = /** @type {ShardHead} */ (open?.head);
    const onProgress = (/** @type {number} */ fraction) =>
      this._means.post({ id: request.id, progress: fraction });
    switch (request.type) {
      case 'open':
        return this._openShare(request.share, onProgress);
      case 'shortlist':
        return this._shortlist(request, onProgress);
      case 'longer':
        return head.longer(request.wanted);
      case 'products':
        return head.products(request.hidden, request.rows);
      case 'allProducts':
        return head.allProducts(request.hidden);
      case 'rows':
        return /** @type {ShardTable} */ (open.embedding).widened(request.rows);
      case 'close':
        return open?.close();
      default:
        throw new EndsError('unknown_request', `a worker of the ends knows no ${request.type}`);
    }
  }

  /** @param {Share} share @param {(fraction: number) => void} onProgress */
  async _openShare(share, onProgress) {
    this._open = new OpenShare(share, this._means);
    await this._open.open(onProgress);
    const { kernel, gpuLost, scarce } = this._open;
    return { kernel, gpuLost, scarce };
  }

  /**
   * Says so where another kernel gives the estimates from now on.
   * @param {Request} request @param {(fraction: number) => void} onProgress
   */
  async _shortlist({ hidden, wanted }, onProgress) {
    const open = /** @type {OpenShare} */ (this._open);
    const before = open.kernel;
    const list = await open.shortlist(hidden, wanted, onProgress);
    if (open.kernel !== before) this._means.post({ kernel: open.kernel });
    return list;
  }
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
