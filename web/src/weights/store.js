/** @import { Manifest } from '../../types/gatelink.js' */
/** @import { PullOptions } from './download/pull.js' */
/** @import { Backend, Layout } from './types.js' */
import { alone, withStorageErrors } from './access.js';
import { StorageFull, StoreFailed } from './errors.js';
import { IndexedDbBackend } from './indexeddb/backend.js';
import { Journal } from './download/journal.js';
import { layoutOf } from './layout.js';
import { parseManifest } from './manifest.js';
import { OpfsBackend } from './opfs/backend.js';
import { missingBytes, Puller } from './download/pull.js';
import { StoredModel } from './stored_model.js';

export { StoredModel };

/** @typedef {{manifest: Manifest, manifestBytes: Uint8Array, layout: Layout, journal: Journal}} Known */

// Room that stays free for chats and for what the workers derive.
const SPARE_BYTES = 8 << 20;

/** @type {Record<Backend['kind'], () => Promise<Backend>>} */
const BACKENDS = {
  opfs: () => OpfsBackend.open(),
  indexeddb: () => IndexedDbBackend.open(),
  // Private windows alone need it.
  memory: async () => new (await import('./memory/backend.js')).MemoryBackend(),
};

/** The models that this browser keeps. Runs in a dedicated worker (OPFS opens its fast files only there). */
export class ModelStore {
  /** @param {Backend} backend */
  constructor(backend) {
    this.backend = backend;
  }

  /**
   * The best store that works here: OPFS, else IndexedDB, else memory (gone when the tab closes: see `kind`).
   * @param {{kind?: 'auto'|Backend['kind']}} [options]
   * @returns {Promise<ModelStore>}
   * @throws {StoreFailed} where the kind that was named does not work
   */
  static async open({ kind = 'auto' } = {}) {
    if (kind !== 'auto') return new ModelStore(await withStorageErrors(BACKENDS[kind]()));
    for (const open of [BACKENDS.opfs, BACKENDS.indexeddb]) {
      try {
        return new ModelStore(await open());
      } catch {
        // The browser withholds this one; the next needs less.
      }
    }
    return new ModelStore(await BACKENDS.memory());
  }

  get kind() {
    return this.backend.kind;
  }

  /**
   * The whole model with this digest, null if anything is missing.
   * @param {string} digest
   * @returns {Promise<StoredModel|null>}
   */
  async find(digest) {
    const known = await this.#known(digest);
    if (!known?.journal.sealed) return null;
    const { manifest, manifestBytes, layout } = known;
    const whole = await withStorageErrors(this.backend.whole(digest, layout));
    return whole ? new StoredModel(this.backend, manifest, manifestBytes, layout) : null;
  }

  /**
   * Every model, whole or partly downloaded, by name. `bytes`: what a whole model takes, derived files
   * included; what has arrived of a partial one.
   * @returns {Promise<{digest: string, name: string, complete: boolean, bytes: number}[]>}
   */
  async list() {
    const digests = await withStorageErrors(this.backend.digests());
    const models = await Promise.all(digests.map((digest) => this.#describe(digest)));
    return models.sort((a, b) => compare(a.name, b.name) || compare(a.digest, b.digest));
  }

  /**
   * Bytes of a model's files that need not be fetched again.
   * @param {string} digest
   * @returns {Promise<number>}
   */
  async doneBytes(digest) {
    return arrivedBytes(await this.#known(digest));
  }

  /**
   * Deletes a model, whole or not, and what was derived from it. Throws ModelInUse.
   * @param {string} digest
   */
  async remove(digest) {
    const name = (await this.#known(digest))?.manifest.name;
    await alone(this.backend, { digest, name }, () => this.backend.remove(digest));
  }

  /**
   * Make a model whole: fetch what is missing, verify every chunk, keep what arrived whatever happens. A
   * model that was begun with another number of shards keeps that number.
   * @param {Uint8Array} manifestBytes as served
   * @param {PullOptions & {shards: number}} options
   * @returns {Promise<StoredModel>}
   * @throws {import('../common/errors.js').AppError} 'manifest_invalid', 'storage_full', 'model_in_use',
   *   'paused', 'download_damaged', 'download_failed', 'unauthorized', 'weights_changed', 'store_failed'
   */
  async pull(manifestBytes, { shards, ...options }) {
    const manifest = parseManifest(manifestBytes);
    const stored = await this.find(manifest.digest);
    if (stored) return stored;
    await alone(this.backend, manifest, () => this.#pull(manifest, manifestBytes, shards, options));
    const pulled = await this.find(manifest.digest);
    if (pulled) return pulled;
    await this.remove(manifest.digest);
    throw new StoreFailed('what was downloaded is not there; download again');
  }

  /** Bytes that the browser still gives, null where it does not say. @returns {Promise<number|null>} */
  async free() {
    try {
      const { quota, usage } = await navigator.storage.estimate();
      return quota === undefined || usage === undefined ? null : Math.max(0, quota - usage);
    } catch {
      return null;
    }
  }

  /**
   * @param {Manifest} manifest
   * @param {Uint8Array} manifestBytes
   * @param {number} shards
   * @param {PullOptions} options
   */
  async #pull(manifest, manifestBytes, shards, options) {
    // Another tab may have ended its download since this one looked.
    if (await this.find(manifest.digest)) return;
    try {
      const { layout, journal } = await this.#begun(manifest, manifestBytes, shards);
      await this.#checkRoom(missingBytes(manifest, layout, journal));
      await this.#fetch(manifest, layout, journal, options);
    } catch (error) {
      // Nothing arrived: nothing is worth the room that was asked for.
      if ((await this.doneBytes(manifest.digest)) === 0) await this.backend.remove(manifest.digest);
      throw error;
    }
  }

  /**
   * @param {Manifest} manifest
   * @param {Layout} layout
   * @param {Journal} journal
   * @param {PullOptions} options
   */
  async #fetch(manifest, layout, journal, options) {
    const writer = await this.backend.write(manifest.digest, layout);
    try {
      await new Puller(manifest, layout, journal, writer, options).run();
    } finally {
      writer.close();
    }
  }

  /**
   * What an earlier download left, else a new beginning.
   * @param {Manifest} manifest
   * @param {Uint8Array} manifestBytes
   * @param {number} shards
   */
  async #begun(manifest, manifestBytes, shards) {
    const known = await this.#known(manifest.digest);
    // A sealed journal over files that are not whole says nothing true any more.
    if (known && !known.journal.sealed) return { layout: known.layout, journal: known.journal };
    const layout = layoutOf(manifest, shards);
    const journal = Journal.fresh(shards, layout.chunks);
    await this.backend.begin(manifest.digest, { manifest: manifestBytes, journal: journal.bytes });
    return { layout, journal };
  }

  /** @param {number} needed bytes */
  async #checkRoom(needed) {
    if (this.kind === 'memory' || needed === 0) return;
    const free = await this.free();
    if (free === null || needed + SPARE_BYTES <= free) return;
    throw new StorageFull(`${megabytes(needed)} are needed and ${megabytes(free)} are free`);
  }

  /** Null where nothing is kept that can be read. @param {string} digest @returns {Promise<Known|null>} */
  async #known(digest) {
    const kept = await withStorageErrors(this.backend.read(digest));
    const journal = kept && Journal.parse(kept.journal);
    if (!kept || !journal) return null;
    const manifest = readManifest(kept.manifest, digest);
    const layout = manifest && layoutOf(manifest, journal.shards);
    if (!manifest || layout?.chunks !== journal.chunks) return null;
    return { manifest, manifestBytes: kept.manifest, layout, journal };
  }

  /** @param {string} digest */
  async #describe(digest) {
    const known = await this.#known(digest);
    const complete = known?.journal.sealed ?? false;
    const bytes =
      known && complete ? await withStorageErrors(this.backend.bytes(digest, known.layout)) : arrivedBytes(known);
    return { digest, name: known?.manifest.name ?? digest.slice(0, 12), complete, bytes };
  }
}

/** @param {Known|null} known */
function arrivedBytes(known) {
  return known ? known.manifest.size - missingBytes(known.manifest, known.layout, known.journal) : 0;
}

/** Null for bytes that are not the manifest of this name. @param {Uint8Array} bytes @param {string} digest */
function readManifest(bytes, digest) {
  try {
    const manifest = parseManifest(bytes);
    return manifest.digest === digest ? manifest : null;
  } catch {
    return null;
  }
}

/** @param {string} a @param {string} b */
function compare(a, b) {
  return Number(a > b) - Number(a < b);
}

/** @param {number} bytes */
function megabytes(bytes) {
  return `${(bytes / 1e6).toFixed(1)} MB`;
}
