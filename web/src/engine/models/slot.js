import { NotReady } from '../errors.js';

/** @typedef {import('./model.js').OpenModel} OpenModel */
/** @typedef {(fraction: number) => void} OnPrepare */

/** Room for one open model: the one that is served. */
export class ModelSlot {
  /** @param {(digest: string, onPrepare: OnPrepare) => Promise<OpenModel>} opener */
  constructor(opener) {
    this._opener = opener;
    /** @type {OpenModel | null} */
    this.model = null;
    /** @type {string | null} digest of the only one that may be open */
    this._wanted = null;
    /** @type {{digest: string, done: Promise<OpenModel>} | null} */
    this._opening = null;
  }

  /**
   * Opens the model that is wanted, once, whoever asks meanwhile.
   * @param {string} digest
   * @param {OnPrepare} onPrepare
   * @returns {Promise<OpenModel>}
   * @throws {NotReady} where another one is wanted by the time it is open; and what the opener throws
   */
  async open(digest, onPrepare) {
    while (this._opening && this._opening.digest !== digest) await this.settled(this._opening.digest);
    if (this.model?.manifest.digest === digest) return this.model;
    this._opening ??= {
      digest,
      done: this._opened(digest, onPrepare).finally(() => (this._opening = null)),
    };
    return this._opening.done;
  }

  /** From now on only this model may be open; another one is closed. @param {string} digest */
  async keepOnly(digest) {
    this._wanted = digest;
    if (this.model && this.model.manifest.digest !== digest) await this.drop();
  }

  /** Resolves when no model with this digest is being opened. @param {string} digest */
  async settled(digest) {
    if (this._opening?.digest === digest) await this._opening.done.catch(() => {});
  }

  /** Closes the model; it may be opened again. */
  async drop() {
    const model = this.model;
    this.model = null;
    await model?.close();
  }

  /** @param {string} digest @param {OnPrepare} onPrepare */
  async _opened(digest, onPrepare) {
    const model = await this._opener(digest, onPrepare);
    if (digest !== this._wanted) {
      await model.close();
      throw new NotReady('open the model that is served now');
    }
    this.model = model;
    return model;
  }
}
