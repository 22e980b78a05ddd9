// The store in a worker of a real browser, for tests/web/weights/test_store.py: each message runs one of `ACTIONS`.
import { describeError } from '../../../src/common/errors.js';
import { httpReader } from '../../../src/weights/download/http_reader.js';
import { sha256 } from '../../../src/weights/sha256.js';
import { openShard } from '../../../src/weights/shard.js';
import { ModelStore } from '../../../src/weights/store.js';

/** @import { ShardReader } from '../../../types/gatelink.js' */

/** @type {ModelStore} */
let store;
/** @type {AbortController} */
let pausing;
/** As the engine has it: one for all pulls. @type {ReturnType<typeof httpReader> | undefined} */
let read;
/** @type {unknown} */
let told = null;
/** @type {ShardReader[]} */
let readers = [];

/** @type {Record<string, (argument: any) => unknown>} */
const ACTIONS = {
  async open({ kind }) {
    store = await ModelStore.open({ kind });
    return { kind: store.kind, subtle: Boolean(globalThis.crypto.subtle), locks: Boolean(navigator.locks) };
  },
  async pull({ shards = 2, token = null, stallSeconds = 30 }) {
    pausing = new AbortController();
    const url = location.origin;
    const manifest = new Uint8Array(
      await (await fetch('/weights/manifest.json', { cache: 'no-store' })).arrayBuffer(),
    );
    read ??= httpReader({ url, token, stallSeconds });
    /** @type {string[]} */
    const retried = [];
    let last = null;
    const model = await store.pull(manifest, {
      read,
      shards,
      signal: pausing.signal,
      onProgress: (progress) => {
        last = told = progress;
        if (progress.retrying) retried.push(progress.retrying.code);
      },
      pause: async () => {},
    });
    return {
      digest: model.manifest.digest,
      shards: model.shards(model.manifest.head.file).length,
      retried,
      last,
    };
  },
  pause: () => pausing.abort(),
  progress: () => told,
  list: () => store.list(),
  free: () => store.free(),
  doneBytes: ({ digest }) => store.doneBytes(digest),
  remove: ({ digest }) => store.remove(digest),
  find: async ({ digest }) => Boolean(await store.find(digest)),
  async texts({ digest }) {
    const model = await found(digest);
    return new TextDecoder().decode(await model.bytes(model.manifest.tokenizer));
  },
  /** The SHA-256 of a table's rows, as read through its shards. */
  async rows({ digest }) {
    const model = await found(digest);
    const parts = [];
    for (const descriptor of model.shards(model.manifest.head.file)) {
      const reader = await openShard(descriptor);
      const bytes = new Uint8Array(reader.rows * reader.rowBytes);
      await reader.readRange(0, reader.rows, bytes);
      reader.close();
      parts.push(bytes);
    }
    return sha256(new Uint8Array(await new Blob(parts).arrayBuffer()));
  },
  /** Opens all shards and leaves them open. */
  async hold({ digest }) {
    const model = await found(digest);
    for (const descriptor of model.shards(model.manifest.head.file))
      readers.push(await openShard(descriptor));
    return readers.length;
  },
  /** One row of the first shard that is held, and whether it came without waiting. */
  async heldRow({ index }) {
    const into = new Uint8Array(readers[0].rowBytes);
    const reading = readers[0].readRows(Int32Array.of(index), into);
    await reading;
    return { sync: reading === undefined, bytes: [...into] };
  },
  release() {
    readers.forEach((reader) => reader.close());
    readers = [];
  },
  /** As browsers do that know no shared handles. */
  async holdAlone({ digest }) {
    const model = await found(digest);
    const [{ path }] = model.shards(model.manifest.head.file);
    let folder = await navigator.storage.getDirectory();
    for (const name of path.slice(0, -1)) folder = await folder.getDirectoryHandle(name);
    const file = await folder.getFileHandle(path[path.length - 1]);
    const handle = await file.createSyncAccessHandle();
    readers = [/** @type {any} */ (handle)];
  },
  async derive({ name, size, seal }) {
    const file = await readers[0].createDerived(name, size);
    if (!file) return false;
    await file.write(0, new Uint8Array(size).fill(7));
    await file.write(size - 2, Uint8Array.of(8, 9));
    if (seal) await file.seal();
    file.close();
    return true;
  },
  async derived({ name, size }) {
    const file = await readers[0].openDerived(name, size);
    if (!file) return null;
    const bytes = new Uint8Array(4);
    await file.read(size - 4, bytes);
    file.close();
    return [...bytes];
  },
  dropDerived: async ({ digest }) => (await found(digest)).dropDerived(),
  /**
   * Reads `count` scattered rows of each shard that is held `rounds` times, then all rows in runs `runs`
   * times.
   */
  async timeReads({ count = 0, rounds = 0, runs = 0 }) {
    for (let round = 0; round < rounds; round += 1) {
      for (const reader of readers) {
        const indices = Int32Array.from(
          { length: count },
          (_, nth) => (nth * 7919 + round * 104729) % reader.rows,
        );
        await reader.readRows(indices, new Uint8Array(count * reader.rowBytes));
      }
    }
    const step = 1024;
    for (const reader of runs ? readers : []) {
      const into = new Uint8Array(step * reader.rowBytes);
      for (let at = 0; at < reader.rows; at += step)
        await reader.readRange(at, Math.min(step, reader.rows - at), into);
    }
  },
};

/** @param {string} digest */
async function found(digest) {
  const model = await store.find(digest);
  if (!model) throw new Error('the model is not stored');
  return model;
}

self.addEventListener('message', async ({ data: { id, action, argument } }) => {
  try {
    self.postMessage({ id, value: await ACTIONS[action](argument ?? {}) });
  } catch (error) {
    const { code, message } = describeError(error);
    self.postMessage({ id, error: { code, message: code === 'internal_error' ? String(error) : message } });
  }
});
