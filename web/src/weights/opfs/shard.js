/** @import { DerivedFile, ShardDescriptor, ShardReader } from '../../../types/gatelink.js' */
import { StoreFailed, storageError } from '../errors.js';
import { DERIVED } from './backend.js';
import { isLocked, openPatiently, openWritable, reserve, writeAll } from './files.js';
import { checkDerivedName, checkRange, eachRun } from '../reading.js';

// Behind the bytes of a derived file; written once they are on the disk.
const SEAL = Uint8Array.of(0x73, 0x65, 0x61, 0x6c, 0x65, 0x64, 0x0a, 0x31);
const LOCKED_TRIES = 3;

/**
 * Rows of one part in OPFS, read synchronously through a handle; where another tab holds the part alone
 * (browsers without shared handles), through a Blob.
 * @implements {ShardReader}
 */
export class OpfsShard {
  /**
   * @param {ShardDescriptor} descriptor
   * @param {FileSystemDirectoryHandle} folder
   * @param {{read(into: Uint8Array, at: number): void|Promise<void>, close(): void}} source
   */
  constructor({ path, first, rows, rowBytes }, folder, source) {
    this.first = first;
    this.rows = rows;
    this.rowBytes = rowBytes;
    this.name = path[path.length - 1];
    this.folder = folder;
    this.source = source;
  }

  /** @param {ShardDescriptor} descriptor */
  static async open(descriptor, storage = globalThis.navigator.storage) {
    const folders = descriptor.path.slice(0, -1);
    let folder = await storage.getDirectory();
    for (const name of folders) folder = await folder.getDirectoryHandle(name);
    const file = await folder.getFileHandle(descriptor.path[descriptor.path.length - 1]);
    const source = await openSource(file);
    if (source.size === descriptor.rows * descriptor.rowBytes)
      return new OpfsShard(descriptor, folder, source);
    source.close();
    throw new StoreFailed('a file of the model has another size');
  }

  /** @param {Int32Array} indices @param {Uint8Array} into */
  readRows(indices, into) {
    const width = this.rowBytes;
    const waiting = eachRun(indices, this.rows, into, width, (start, count, at) =>
      this.source.read(into.subarray(at * width, (at + count) * width), start * width),
    );
    return waiting.length ? Promise.all(waiting).then(() => undefined) : undefined;
  }

  /** @param {number} start @param {number} count @param {Uint8Array} into */
  readRange(start, count, into) {
    checkRange(start, count, this.rows, into, this.rowBytes);
    return this.source.read(into.subarray(0, count * this.rowBytes), start * this.rowBytes);
  }

  /** @param {string} name @param {number} size @returns {Promise<DerivedFile|null>} */
  async openDerived(name, size) {
    try {
      const file = await this.folder.getFileHandle(this.#derivedName(name));
      const source = await openSource(file);
      if (await isSealed(source, size)) return new ReadOnlyDerived(source, size);
      source.close();
      return null;
    } catch (error) {
      if (error instanceof DOMException && error.name === 'NotFoundError') return null;
      throw storageError(error);
    }
  }

  /** @param {string} name @param {number} size @returns {Promise<DerivedFile|null>} */
  async createDerived(name, size) {
    const file = this.#derivedName(name);
    try {
      return await OpfsDerived.create(this.folder, file, size);
    } catch (error) {
      if (isLocked(error)) return null;
      if (storageError(error).code !== 'storage_full') throw storageError(error);
      await this.folder.removeEntry(file).catch(() => {});
      return null;
    }
  }

  close() {
    this.source.close();
  }

  /** @param {string} name */
  #derivedName(name) {
    return `${this.name}${DERIVED}${checkDerivedName(name)}`;
  }
}

/** @implements {DerivedFile} */
class OpfsDerived {
  /** @param {FileSystemSyncAccessHandle} handle @param {number} size */
  constructor(handle, size) {
    this.handle = handle;
    this.size = size;
  }

  /** @param {FileSystemDirectoryHandle} folder @param {string} name @param {number} size */
  static async create(folder, name, size) {
    const handle = await openWritable(folder, name);
    try {
      handle.truncate(0);
      reserve(handle, size);
      return new OpfsDerived(handle, size);
    } catch (error) {
      handle.close();
      throw error;
    }
  }

  /** @param {number} offset @param {Uint8Array} into */
  read(offset, into) {
    checkRange(offset, into.length, this.size, into, 1);
    readExactly(this.handle, into, offset);
  }

  /** @param {number} offset @param {Uint8Array} bytes */
  write(offset, bytes) {
    checkRange(offset, bytes.length, this.size, bytes, 1);
    try {
      writeAll(this.handle, bytes, offset);
    } catch (error) {
      throw storageError(error);
    }
  }

  async seal() {
    try {
      this.handle.flush();
      writeAll(this.handle, SEAL, this.size);
      this.handle.flush();
    } catch (error) {
      throw storageError(error);
    }
  }

  close() {
    this.handle.close();
  }
}

/** A sealed file. @implements {DerivedFile} */
class ReadOnlyDerived {
  /**
   * @param {{read(into: Uint8Array, at: number): void|Promise<void>, close(): void}} source
   * @param {number} size
   */
  constructor(source, size) {
    this.source = source;
    this.size = size;
  }

  /** @param {number} offset @param {Uint8Array} into */
  read(offset, into) {
    checkRange(offset, into.length, this.size, into, 1);
    return this.source.read(into, offset);
  }

  /** @returns {never} */
  write() {
    throw new StoreFailed('a sealed file does not change');
  }

  async seal() {}

  close() {
    this.source.close();
  }
}

/** @param {FileSystemFileHandle} file */
async function openSource(file) {
  try {
    // Browsers that know no modes ignore it and open the file alone.
    const options = /** @type {any} */ ({ mode: 'read-only' });
    const open = /** @type {(options: object) => Promise<FileSystemSyncAccessHandle>} */ (
      file.createSyncAccessHandle
    );
    const handle = await openPatiently(() => open.call(file, options), LOCKED_TRIES);
    return {
      size: handle.getSize(),
      read: (/** @type {Uint8Array} */ into, /** @type {number} */ at) => readExactly(handle, into, at),
      close: () => handle.close(),
    };
  } catch (error) {
    if (!isLocked(error)) throw error;
    return blobSource(await file.getFile());
  }
}

/** @param {File} blob */
function blobSource(blob) {
  return {
    size: blob.size,
    read: async (/** @type {Uint8Array} */ into, /** @type {number} */ at) => {
      const bytes = new Uint8Array(await blob.slice(at, at + into.length).arrayBuffer());
      if (bytes.length !== into.length) throw new StoreFailed('a file of the model is too short');
      into.set(bytes);
    },
    close: () => {},
  };
}

/** @param {FileSystemSyncAccessHandle} handle @param {Uint8Array} into @param {number} at */
function readExactly(handle, into, at) {
  const count = handle.read(/** @type {BufferSource} */ (into), { at });
  if (count !== into.length) throw new StoreFailed('a file of the model is too short');
}

/**
 * @param {{size: number, read(into: Uint8Array, at: number): void|Promise<void>}} source
 * @param {number} size
 */
async function isSealed(source, size) {
  if (source.size !== size + SEAL.length) return false;
  const found = new Uint8Array(SEAL.length);
  await source.read(found, size);
  return SEAL.every((byte, index) => byte === found[index]);
}
