// An origin private file system in memory: exclusive handles, a quota, and crashes that lose what was not
// flushed.

class Denied extends DOMException {}

/** @param {string} name */
const failing = (name) => new Denied(name, name);

export class FakeDisk {
  /**
   * `held`: the name of the error for a file that someone else holds; `handles`: whether files can be opened
   * @param {{quota?: number, sharedHandles?: boolean, held?: string, handles?: boolean}} [options]
   */
  constructor({ quota = Infinity, sharedHandles = true, held = 'NoModificationAllowedError', handles = true } = {}) {
    this.held = held;
    this.handles = handles;
    this.quota = quota;
    this.sharedHandles = sharedHandles;
    this.root = new FakeDirectory(this);
    /** @type {string[]} what happened, in order */
    this.log = [];
    /** @type {FakeFile[]} */
    this.files = [];
  }

  /** Bytes of all files. */
  get usage() {
    return this.files.reduce((sum, file) => sum + file.bytes.length, 0);
  }

  get openHandles() {
    return this.files.reduce((sum, file) => sum + file.readers + file.writers, 0);
  }

  /** The browser is killed: handles are gone, and so is what was not flushed. */
  crash() {
    for (const file of this.files) {
      file.bytes = file.durable.slice();
      file.readers = 0;
      file.writers = 0;
      file.generation += 1;
    }
  }

  /** As `navigator.storage`. */
  storage() {
    return {
      getDirectory: async () => this.root,
      estimate: async () => (this.quota === Infinity ? {} : { quota: this.quota, usage: this.usage }),
    };
  }
}

class FakeDirectory {
  kind = 'directory';

  /** @param {FakeDisk} disk */
  constructor(disk) {
    this.disk = disk;
    /** @type {Map<string, FakeDirectory|FakeFile>} */
    this.children = new Map();
  }

  /** @param {string} name @param {{create?: boolean}} [options] */
  async getDirectoryHandle(name, { create = false } = {}) {
    return this.#child(name, create, FakeDirectory);
  }

  /** @param {string} name @param {{create?: boolean}} [options] */
  async getFileHandle(name, { create = false } = {}) {
    return this.#child(name, create, FakeFile);
  }

  /** @param {string} name @param {{recursive?: boolean}} [options] */
  async removeEntry(name, { recursive = false } = {}) {
    const child = this.children.get(name);
    if (!child) throw failing('NotFoundError');
    const below = filesBelow(child);
    if (below.some((file) => file.readers + file.writers > 0)) throw failing('NoModificationAllowedError');
    if (child instanceof FakeDirectory && child.children.size && !recursive)
      throw failing('InvalidModificationError');
    this.children.delete(name);
    this.disk.files = this.disk.files.filter((file) => !below.includes(file));
  }

  async *keys() {
    yield* this.children.keys();
  }

  async *entries() {
    yield* this.children.entries();
  }

  /**
   * @template {FakeDirectory|FakeFile} T
   * @param {string} name
   * @param {boolean} create
   * @param {new (disk: FakeDisk) => T} Kind
   * @returns {T}
   */
  #child(name, create, Kind) {
    const known = this.children.get(name);
    if (known && !(known instanceof Kind)) throw failing('TypeMismatchError');
    if (known) return /** @type {T} */ (known);
    if (!create) throw failing('NotFoundError');
    const child = new Kind(this.disk);
    this.children.set(name, child);
    if (child instanceof FakeFile) this.disk.files.push(child);
    return child;
  }
}

class FakeFile {
  kind = 'file';
  bytes = new Uint8Array(0);
  durable = new Uint8Array(0);
  readers = 0;
  writers = 0;
  generation = 0;

  /** @param {FakeDisk} disk */
  constructor(disk) {
    this.disk = disk;
  }

  async getFile() {
    return new Blob([this.bytes]);
  }

  /** @param {{mode?: string}} [options] */
  async createSyncAccessHandle({ mode = 'readwrite' } = {}) {
    const shared = mode === 'read-only' && this.disk.sharedHandles;
    if (!this.disk.handles) throw failing('NotSupportedError');
    if (this.writers > 0 || (!shared && this.readers > 0)) throw failing(this.disk.held);
    if (shared) this.readers += 1;
    else this.writers += 1;
    return new FakeHandle(this, shared);
  }
}

class FakeHandle {
  #open = true;

  /** @param {FakeFile} file @param {boolean} shared */
  constructor(file, shared) {
    this.file = file;
    this.shared = shared;
    this.generation = file.generation;
  }

  getSize() {
    return this.#live().bytes.length;
  }

  /** @param {Uint8Array} into @param {{at: number}} options */
  read(into, { at }) {
    const found = this.#live().bytes.subarray(at, at + into.length);
    into.set(found);
    return found.length;
  }

  /** @param {Uint8Array} bytes @param {{at: number}} options */
  write(bytes, { at }) {
    const file = this.#live();
    this.#resize(Math.max(file.bytes.length, at + bytes.length));
    file.bytes.set(bytes, at);
    return bytes.length;
  }

  /** @param {number} size */
  truncate(size) {
    this.#live();
    this.#resize(size);
  }

  flush() {
    const file = this.#live();
    file.durable = file.bytes.slice();
  }

  close() {
    if (!this.#open) return;
    this.#open = false;
    if (this.generation !== this.file.generation) return;
    if (this.shared) this.file.readers -= 1;
    else this.file.writers -= 1;
  }

  #live() {
    if (!this.#open || this.generation !== this.file.generation) throw failing('InvalidStateError');
    return this.file;
  }

  /** @param {number} size */
  #resize(size) {
    const { file } = this;
    const { disk } = file;
    if (disk.usage - file.bytes.length + size > disk.quota) throw failing('QuotaExceededError');
    const resized = new Uint8Array(size);
    resized.set(file.bytes.subarray(0, size));
    file.bytes = resized;
  }
}

/** @param {FakeDirectory|FakeFile} entry @returns {FakeFile[]} */
function filesBelow(entry) {
  return entry instanceof FakeFile ? [entry] : [...entry.children.values()].flatMap(filesBelow);
}
