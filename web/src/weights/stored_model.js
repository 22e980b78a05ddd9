/** @import { Manifest, ShardDescriptor } from '../../types/gatelink.js' */
/** @import { Backend, Layout } from './types.js' */
import { alone, withStorageErrors } from './access.js';
import { fileEntry } from './manifest.js';

/** A model whose files are all there. */
export class StoredModel {
  /**
   * @param {Backend} backend
   * @param {Manifest} manifest
   * @param {Uint8Array} manifestBytes
   * @param {Layout} layout
   */
  constructor(backend, manifest, manifestBytes, layout) {
    this.manifest = manifest;
    this.manifestBytes = manifestBytes;
    this.backend = backend;
    this.layout = layout;
  }

  /**
   * A file that is no tensor (texts, the bias), whole.
   * @param {string} name
   * @returns {Promise<Uint8Array>}
   * @throws {StoreFailed}
   */
  async bytes(name) {
    const parts = this.layout.byFile.get(name) ?? [];
    if (parts.length !== 1 || parts[0].rowBytes !== null) throw new RangeError(`${name} is not kept whole`);
    return withStorageErrors(this.backend.part(this.manifest.digest, parts[0]));
  }

  /**
   * Where the rows of a tensor file lie: in row order, one for each worker.
   * @param {string} name
   * @returns {ShardDescriptor[]}
   */
  shards(name) {
    fileEntry(this.manifest, name);
    return (this.layout.byFile.get(name) ?? []).map((part) => {
      if (part.rowBytes === null) throw new RangeError(`${name} has no rows`);
      const { firstRow: first, rows, rowBytes } = part;
      return {
        kind: this.backend.kind,
        ...this.backend.locate(this.manifest.digest, part),
        first,
        rows,
        rowBytes,
      };
    });
  }

  /** Deletes what workers derived from the shards; close them first. Throws ModelInUse. */
  async dropDerived() {
    await alone(this.backend, this.manifest, () => this.backend.dropDerived(this.manifest.digest));
  }
}
