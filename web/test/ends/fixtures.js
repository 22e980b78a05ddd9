import { createHash } from 'node:crypto';
import { mkdir, readFile, readdir, rename } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { compileKernel } from '../../kernels.mjs';
import { Ends } from '../../src/ends/ends.js';
import { ShardServer } from '../../src/ends/shard_server.js';

const SOURCES = fileURLToPath(new URL('../../wasm', import.meta.url));
/** @type {Map<string, Promise<Uint8Array<ArrayBuffer>>>} */
const modules = new Map();

/** The compiled module, from a folder of this version of the source. @param {string} name */
export async function readModule(name) {
  const module = modules.get(name) ?? stored(name);
  modules.set(name, module);
  return module;
}

/** @param {string} name */
async function stored(name) {
  const target = join(tmpdir(), `gatelink-kernels-${await versionOfSources()}`, name);
  const bytes = await readFile(target).catch(() => compiled(name, target));
  return new Uint8Array(bytes);
}

async function versionOfSources() {
  const hash = createHash('sha256');
  for (const name of (await readdir(SOURCES)).sort()) hash.update(await readFile(join(SOURCES, name)));
  return hash.digest('hex').slice(0, 16);
}

/** @param {string} name @param {string} target */
async function compiled(name, target) {
  const beside = `${target}.${process.pid}`;
  await mkdir(join(target, '..'), { recursive: true });
  await compileKernel(name, beside);
  await rename(beside, target);
  return readFile(target);
}

/** Whether this version of node has relaxed SIMD. */
export async function hasRelaxed() {
  return WebAssembly.validate(await readModule('kernels-relaxed.wasm'));
}

/** Numbers that look random and are the same in every run: mulberry32. @param {number} seed */
export function uniform(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** @param {number} count @param {number} seed @param {number} [size] standard deviation */
export function normal(count, seed, size = 1) {
  const next = uniform(seed);
  return Float32Array.from({ length: count }, () => {
    const radius = Math.sqrt(-2 * Math.log(1 - next()));
    return size * radius * Math.cos(2 * Math.PI * next());
  });
}

/** bf16 bits of values, cut. @param {Float32Array} values */
export function asBf16(values) {
  return Uint16Array.from(new Uint32Array(values.buffer), (bits) => bits >>> 16);
}

/** @param {Float32Array} values what `asBf16` keeps of them */
export function cutToBf16(values) {
  const kept = Uint32Array.from(new Uint32Array(values.buffer), (bits) => bits & 0xffff0000);
  return new Float32Array(kept.buffer);
}

/** A reader over bytes in memory that can keep derived files. @implements {ShardReader} */
export class MemoryReader {
  /**
   * @param {import('../../types/gatelink.js').ShardDescriptor} descriptor
   * @param {Map<string, Uint8Array>} derived sealed files by name
   */
  constructor(descriptor, derived = new Map()) {
    this.first = descriptor.first;
    this.rows = descriptor.rows;
    this.rowBytes = descriptor.rowBytes;
    this._bytes = /** @type {Uint8Array} */ (descriptor.bytes);
    this.derived = derived;
    this.closed = false;
    this.rowsRead = 0;
  }

  /** @param {Int32Array} indices @param {Uint8Array} into */
  readRows(indices, into) {
    this.rowsRead += indices.length;
    indices.forEach((row, i) => into.set(this._slice(row, 1), i * this.rowBytes));
  }

  /** @param {number} start @param {number} count @param {Uint8Array} into */
  async readRange(start, count, into) {
    this.rowsRead += count;
    into.set(this._slice(start, count));
  }

  /** @param {string} name @param {number} size */
  async openDerived(name, size) {
    const bytes = this.derived.get(this._key(name));
    return bytes?.length === size ? this._file(name, bytes) : null;
  }

  /** @param {string} name @param {number} size */
  async createDerived(name, size) {
    return this._file(name, new Uint8Array(size));
  }

  close() {
    this.closed = true;
  }

  /** @param {string} name */
  _key(name) {
    return `${name}@${this.first}`;
  }

  /** @param {number} row @param {number} count */
  _slice(row, count) {
    return this._bytes.subarray(row * this.rowBytes, (row + count) * this.rowBytes);
  }

  /**
   * @param {string} name @param {Uint8Array} bytes
   * @returns {import('../../types/gatelink.js').DerivedFile}
   */
  _file(name, bytes) {
    return {
      read: (offset, into) => into.set(bytes.subarray(offset, offset + into.length)),
      write: (offset, part) => bytes.set(part, offset),
      seal: async () => void this.derived.set(this._key(name), bytes),
      close: () => {},
    };
  }
}

/** A reader each of whose calls takes 0.3 ms of `clock`, as in a private window. */
export class FarReader extends MemoryReader {
  static milliseconds = 0;
  static calls = 0;

  static clock = () => FarReader.milliseconds;

  /** @override @param {Int32Array} indices @param {Uint8Array} into */
  readRows(indices, into) {
    FarReader.calls += 1;
    FarReader.milliseconds += 0.3;
    super.readRows(indices, into);
  }
}

/** @typedef {import('../../types/gatelink.js').ShardReader} ShardReader */

/** A worker in this thread: messages are cloned and arrive later, as between threads. */
export class LocalWorker {
  /**
   * @param {(descriptor: any) => Promise<ShardReader>} openShard
   * @param {Partial<import('../../src/ends/open_share.js').Means>} [means] the GPU
   */
  constructor(openShard, means = {}) {
    this.onmessage = (/** @type {{data: any}} */ _event) => {};
    this.onmessageerror = () => {};
    this.onerror = (/** @type {any} */ _event) => {};
    this.terminated = false;
    /** @type {any[]} */
    this.requests = [];
    /** @type {Promise<unknown>} */
    this.answering = Promise.resolve();
    this._server = new ShardServer({
      openShard,
      readModule,
      ...means,
      post: (data, transfer = []) => {
        const cloned = structuredClone(data, { transfer });
        setImmediate(() => this.terminated || this.onmessage({ data: cloned }));
      },
    });
  }

  /** @param {any} message */
  postMessage(message) {
    this.requests.push(message);
    this.answering = this._server.receive(structuredClone(message));
  }

  terminate() {
    this.terminated = true;
  }
}

/**
 * Descriptors of a table that is cut into `count` shards.
 * @param {Uint8Array} bytes @param {number} rows @param {number} count @param {string} [name]
 * @returns {import('../../types/gatelink.js').ShardDescriptor[]}
 */
export function cut(bytes, rows, count, name = 'table') {
  const rowBytes = bytes.length / rows;
  const each = Math.ceil(rows / count);
  return Array.from({ length: count }, (_, i) => {
    const first = i * each;
    const own = Math.min(each, rows - first);
    const part = bytes.slice(first * rowBytes, (first + own) * rowBytes);
    return { kind: 'memory', path: [name, `${i}`], first, rows: own, rowBytes, bytes: part };
  });
}


/** @type {import('../../src/ends/spec.js').Spec} */
export const PLAIN = { bias: null, softcap: null, scale: 1, divide: false };

/**
 * Ends over a bf16 table (what `cutToBf16` keeps of `weights`), tied, in this thread.
 * @param {Float32Array} weights @param {number} rows
 * @param {Partial<import('../../src/ends/ends.js').EndsOptions> & {cuts?: number, kind?: 'memory' | 'indexeddb',
 *   derived?: Map<string, Uint8Array>, Reader?: typeof MemoryReader, readers?: MemoryReader[], workers?: LocalWorker[],
 *   means?: Partial<import('../../src/ends/open_share.js').Means>}} [options]
 */
export function openEnds(weights, rows, options = {}) {
  const { cuts = 2, kind = 'memory', derived = new Map(), readers = [], workers = [], means = {}, ...rest } = options;
  const { Reader = MemoryReader } = options;
  const shards = cut(new Uint8Array(asBf16(weights).buffer), rows, cuts).map((shard) => ({ ...shard, kind }));
  const table = { rows, dtype: 'bf16' };
  const manifest = /** @type {any} */ ({ hiddenSize: weights.length / rows, head: table, embedding: table });
  const spawn = () => {
    const worker = new LocalWorker(async (descriptor) => {
      const reader = new Reader(descriptor, derived);
      readers.push(reader);
      return reader;
    }, means);
    workers.push(worker);
    return /** @type {Worker} */ (/** @type {unknown} */ (worker));
  };
  return Ends.open({ manifest, shards: { head: shards, embedding: shards }, spec: PLAIN, spawn, ...rest });
}

/** Logits of all rows in float64. @param {Float32Array} weights @param {Float32Array} hidden */
export function productsOf(weights, hidden) {
  const products = new Float64Array(weights.length / hidden.length);
  for (let row = 0; row < products.length; row++) {
    for (let i = 0; i < hidden.length; i++) products[row] += weights[row * hidden.length + i] * hidden[i];
  }
  return products;
}

/**
 * The first `k` ids by (-logit, id) outside `also`.
 * @param {ArrayLike<number>} logits @param {number} k @param {number[]} [also]
 */
export function firstOf(logits, k, also = []) {
  const ids = Array.from(logits, (_, id) => id).filter((id) => !also.includes(id));
  return ids.sort((a, b) => logits[b] - logits[a] || a - b).slice(0, k);
}
