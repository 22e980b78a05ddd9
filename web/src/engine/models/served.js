import { parseManifest } from '../../weights/manifest.js';
import { NotReady } from '../errors.js';
import { ModelSlot } from './slot.js';

/** @typedef {import('./model.js').OpenModel} OpenModel */

/** The model that the server offers: found in the store, opened when it is needed, and let go. */
export class ServedModel {
  /**
   * @param {object} parts
   * @param {import('./store.js').Models} parts.models
   * @param {typeof import('./model.js').OpenModel.open} parts.open
   * @param {() => Uint8Array} parts.offered the manifest's bytes; throws where there is no server
   * @param {(notice: import('../messages.js').Notice) => void} parts.notify
   */
  constructor({ models, open, offered, notify }) {
    this._models = models;
    this._open = open;
    this._offered = offered;
    this._notify = notify;
    this._slot = new ModelSlot((digest, event) => this._openStored(digest, event));
  }

  /** The one that is open; null: none. */
  get model() {
    return this._slot.model;
  }

  /** The one that is open. @throws {NotReady} where none is */
  required() {
    if (this._slot.model === null) throw new NotReady('download the model');
    return this._slot.model;
  }

  /** The model that is served, opened. @param {(fraction: number) => void} event @throws {NotReady} */
  async prepared(event) {
    const offered = this._offered();
    return this._slot.model ?? this._slot.open(parseManifest(offered).digest, event);
  }

  /** From now on only this model may be open. @param {string} digest */
  keepOnly(digest) {
    return this._slot.keepOnly(digest);
  }

  /** Resolves when no model with this digest is being opened. @param {string} digest */
  settled(digest) {
    return this._slot.settled(digest);
  }

  /** Closes the model; it may be opened again. */
  drop() {
    return this._slot.drop();
  }

  /** @param {string} digest @param {(fraction: number) => void} event */
  async _openStored(digest, event) {
    const stored = await this._models.use((store) => store.find(digest));
    if (stored === null) throw new NotReady('download the model');
    const model = await this._open(stored, event);
    model.tokenizer.watch = (busy) => this._notify({ type: 'tokenizing', busy });
    return model;
  }
}
