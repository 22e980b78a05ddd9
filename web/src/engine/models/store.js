import { AppError } from '../../common/errors.js';

/** @typedef {import('../../weights/store.js').ModelStore} ModelStore */
/** @typedef {import('../messages.js').Connected} Connected */

/** The store of models, opened when it is first needed, and again when it fails. */
export class Models {
  /** @param {(options: object) => Promise<ModelStore>} open */
  constructor(open) {
    this._open = open;
    /** @type {Promise<ModelStore> | null} */
    this._store = null;
  }

  /**
   * Once more with another store where one fails: a browser that clears its storage leaves it pointing nowhere.
   * @template T
   * @param {(store: ModelStore) => Promise<T>} work
   * @returns {Promise<T>}
   * @throws {AppError} what `work` throws
   */
  async use(work) {
    const opened = this._opened();
    try {
      return await work(await opened);
    } catch (error) {
      if (!(error instanceof AppError && error.code === 'store_failed')) throw error;
      if (this._store === opened) this._store = null;
    }
    return work(await this._opened());
  }

  /**
   * What of a model is kept.
   * @param {string} digest
   * @returns {Promise<Pick<Connected, 'stored' | 'doneBytes' | 'storage' | 'freeBytes'>>}
   */
  kept(digest) {
    return this.use(async (store) => {
      const known = (await store.list()).find((model) => model.digest === digest);
      const complete = known?.complete ?? false;
      // The list goes by what was kept once; what is gone since has to come again.
      const stored = complete && (await store.find(digest)) !== null;
      const doneBytes = complete && !stored ? 0 : (known?.bytes ?? 0);
      return { stored, doneBytes, storage: store.kind, freeBytes: await store.free() };
    });
  }

  /** Whoever asks meanwhile gets the same: two in memory would not know each other's models. */
  _opened() {
    this._store ??= this._open({});
    return this._store;
  }
}
