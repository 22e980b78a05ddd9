/** @import { Backend, Kept, Layout, Part, Piece, Writer } from '../types.js' */
import { StoreFailed } from '../errors.js';
import { isSha256 } from '../fields.js';
import { MANIFEST_NAME } from '../manifest.js';
import { closeAll, openWritable, reserve, tryOpening, writeAll, writeFile } from './files.js';

export const ROOT = 'gatelink-models';
const JOURNAL = 'journal';
const READ_TRIES = 10;
// Between a part's name and the name of what was derived from it; parts have no '.' in theirs.
export const DERIVED = '.';

/**
 * Models in the origin private file system (https://fs.spec.whatwg.org/), for dedicated workers of secure
 * contexts: `gatelink-models/<digest>/` holds the manifest, the journal, a file for each part and files
 * derived from parts.
 * @implements {Backend}
 */
export class OpfsBackend {
  kind = /** @type {const} */ ('opfs');

  /** @param {FileSystemDirectoryHandle} root */
  constructor(root) {
    this.root = root;
  }

  /** Throws where the browser has no OPFS here. */
  static async open(storage = globalThis.navigator?.storage) {
    if (typeof globalThis.FileSystemFileHandle?.prototype.createSyncAccessHandle !== 'function') {
      throw new StoreFailed('no synchronous files here');
    }
    const top = await storage.getDirectory();
    await tryOpening(top);
    return new OpfsBackend(await top.getDirectoryHandle(ROOT, { create: true }));
  }

  async digests() {
    const names = [];
    for await (const name of this.root.keys()) if (isSha256(name)) names.push(name);
    return names.sort();
  }

  /** @param {string} digest @returns {Promise<Kept|null>} */
  async read(digest) {
    const folder = await this.#folder(digest);
    if (!folder) return null;
    const [manifest, journal] = await Promise.all([
      contents(folder, MANIFEST_NAME),
      contents(folder, JOURNAL),
    ]);
    return manifest && journal && { manifest, journal };
  }

  /** The journal comes last: without one there is nothing. @param {string} digest @param {Kept} kept */
  async begin(digest, { manifest, journal }) {
    await this.remove(digest);
    const folder = await this.root.getDirectoryHandle(digest, { create: true });
    await writeFile(folder, MANIFEST_NAME, manifest);
    await writeFile(folder, JOURNAL, journal);
  }

  /** @param {string} digest @param {Layout} layout @returns {Promise<Writer>} */
  async write(digest, layout) {
    return OpfsWriter.open(await this.root.getDirectoryHandle(digest), layout);
  }

  /** @param {string} digest @param {Layout} layout */
  async whole(digest, layout) {
    const sizes = await this.#sizes(digest);
    return layout.parts.every((part) => sizes.get(part.name) === part.size);
  }

  /** @param {string} digest */
  async bytes(digest) {
    const sizes = await this.#sizes(digest);
    return [...sizes.values()].reduce((sum, size) => sum + size, 0);
  }

  /** @param {string} digest @param {Part} part */
  async part(digest, part) {
    const folder = await this.root.getDirectoryHandle(digest);
    const bytes = await contents(folder, part.name);
    if (bytes?.length !== part.size) throw new StoreFailed('a file of the model has another size');
    return bytes;
  }

  /** @param {string} digest @param {Part} part */
  locate(digest, part) {
    return { path: [ROOT, digest, part.name] };
  }

  /** @param {string} digest */
  async remove(digest) {
    if (await this.#folder(digest)) await this.root.removeEntry(digest, { recursive: true });
  }

  /** @param {string} digest */
  async dropDerived(digest) {
    const folder = await this.#folder(digest);
    const names = [...(await this.#sizes(digest)).keys()];
    const derived = names.filter((name) => name.includes(DERIVED) && name !== MANIFEST_NAME);
    for (const name of derived) await folder?.removeEntry(name);
  }

  /** @param {string} digest @returns {Promise<FileSystemDirectoryHandle|null>} */
  async #folder(digest) {
    return this.root.getDirectoryHandle(digest).catch(nullIfMissing);
  }

  /** @param {string} digest @returns {Promise<Map<string, number>>} */
  async #sizes(digest) {
    const folder = await this.#folder(digest);
    const sizes = new Map();
    if (!folder) return sizes;
    for await (const [name, handle] of folder.entries()) {
      if (handle.kind !== 'file') continue;
      sizes.set(name, (await /** @type {FileSystemFileHandle} */ (handle).getFile()).size);
    }
    return sizes;
  }
}

/** Holds every part of a model open alone while it is downloaded. @implements {Writer} */
class OpfsWriter {
  /** @param {Map<string, FileSystemSyncAccessHandle>} parts @param {FileSystemSyncAccessHandle} journal */
  constructor(parts, journal) {
    this.parts = parts;
    this.journal = journal;
  }

  /** @param {FileSystemDirectoryHandle} folder @param {Layout} layout */
  static async open(folder, layout) {
    const opened = new Map();
    try {
      const journal = await openWritable(folder, JOURNAL);
      opened.set(JOURNAL, journal);
      for (const { name, size } of layout.parts) {
        const handle = await openWritable(folder, name);
        opened.set(name, handle);
        reserve(handle, size);
      }
      opened.delete(JOURNAL);
      return new OpfsWriter(opened, journal);
    } catch (error) {
      closeAll(opened.values());
      throw error;
    }
  }

  /** @param {Piece[]} pieces @param {number} journalAt */
  async keep(pieces, journalAt) {
    const touched = pieces.map(({ part, at, bytes }) => {
      const handle = /** @type {FileSystemSyncAccessHandle} */ (this.parts.get(part.name));
      writeAll(handle, bytes, at);
      return handle;
    });
    for (const handle of touched) handle.flush();
    this.#mark(journalAt);
  }

  /** @param {number} journalAt */
  async seal(journalAt) {
    closeAll(this.parts.values());
    this.#mark(journalAt);
    this.close();
  }

  close() {
    closeAll([...this.parts.values(), this.journal]);
  }

  /** @param {number} at */
  #mark(at) {
    writeAll(this.journal, Uint8Array.of(1), at);
    this.journal.flush();
  }
}

/**
 * A file as it is now; null: none. One that another tab writes at that moment is read again.
 * @param {FileSystemDirectoryHandle} folder
 * @param {string} name
 * @returns {Promise<Uint8Array|null>}
 */
async function contents(folder, name) {
  const handle = await folder.getFileHandle(name).catch(nullIfMissing);
  for (let attempt = 1; handle; attempt += 1) {
    try {
      return new Uint8Array(await (await handle.getFile()).arrayBuffer());
    } catch (error) {
      const changed = error instanceof DOMException && error.name === 'NotReadableError';
      if (!changed || attempt === READ_TRIES) throw error;
    }
  }
  return null;
}

/** @param {unknown} error */
function nullIfMissing(error) {
  if (error instanceof DOMException && error.name === 'NotFoundError') return null;
  throw error;
}
