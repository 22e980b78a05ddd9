/** @import { Backend, Kept, Layout, Part, Piece, Writer } from '../types.js' */

/**
 * Models in this worker's memory, for private windows that keep nothing: gone when the tab closes.
 * @implements {Backend}
 */
export class MemoryBackend {
  kind = /** @type {const} */ ('memory');

  constructor() {
    /** @type {Map<string, Kept & {parts: Map<string, Uint8Array>}>} */
    this.models = new Map();
  }

  async digests() {
    return [...this.models.keys()];
  }

  /** @param {string} digest @returns {Promise<Kept|null>} */
  async read(digest) {
    const model = this.models.get(digest);
    return model ? { manifest: model.manifest, journal: model.journal.slice() } : null;
  }

  /** @param {string} digest @param {Kept} kept */
  async begin(digest, { manifest, journal }) {
    this.models.set(digest, { manifest: manifest.slice(), journal: journal.slice(), parts: new Map() });
  }

  /** @param {string} digest @param {Layout} layout @returns {Promise<Writer>} */
  async write(digest, layout) {
    const model = this.#model(digest);
    for (const { name, size } of layout.parts) {
      if (!model.parts.has(name)) model.parts.set(name, new Uint8Array(size));
    }
    return new MemoryWriter(model.parts, model.journal);
  }

  /** @param {string} digest @param {Layout} layout */
  async whole(digest, layout) {
    const parts = this.models.get(digest)?.parts;
    return layout.parts.every((part) => parts?.get(part.name)?.length === part.size);
  }

  /** @param {string} digest */
  async bytes(digest) {
    const model = this.models.get(digest);
    if (!model) return 0;
    return [...model.parts.values()].reduce((sum, part) => sum + part.length, model.manifest.length);
  }

  /** @param {string} digest @param {Part} part */
  async part(digest, part) {
    return this.#part(digest, part).slice();
  }

  /** @param {string} digest @param {Part} part */
  locate(digest, part) {
    return { path: [], bytes: this.#part(digest, part) };
  }

  /** @param {string} digest */
  async remove(digest) {
    this.models.delete(digest);
  }

  async dropDerived() {}

  /** @param {string} digest */
  #model(digest) {
    const model = this.models.get(digest);
    if (!model) throw new RangeError('no such model');
    return model;
  }

  /** @param {string} digest @param {Part} part */
  #part(digest, part) {
    return /** @type {Uint8Array} */ (this.#model(digest).parts.get(part.name));
  }
}

/** @implements {Writer} */
class MemoryWriter {
  /** @param {Map<string, Uint8Array>} parts @param {Uint8Array} journal */
  constructor(parts, journal) {
    this.parts = parts;
    this.journal = journal;
  }

  /** @param {Piece[]} pieces @param {number} journalAt */
  async keep(pieces, journalAt) {
    for (const { part, at, bytes } of pieces) this.parts.get(part.name)?.set(bytes, at);
    this.journal[journalAt] = 1;
  }

  /** @param {number} journalAt */
  async seal(journalAt) {
    this.journal[journalAt] = 1;
  }

  close() {}
}
