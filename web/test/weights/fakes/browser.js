import { IDBFactory, IDBKeyRange, IDBObjectStore } from 'fake-indexeddb';
import { FakeDisk } from './opfs.js';

/**
 * Gives this process what a browser offers, for one test.
 * @param {{after(restore: () => void): void}} test
 * @param {{disk?: FakeDisk|null, indexedDB?: boolean, locks?: boolean}} [options]
 */
export function browser(test, { disk = new FakeDisk(), indexedDB = true, locks = true } = {}) {
  const lockManager = new FakeLocks();
  const navigator = { storage: disk?.storage(), locks: locks ? lockManager : undefined };
  const values = {
    navigator,
    indexedDB: indexedDB ? new IDBFactory() : undefined,
    IDBKeyRange,
    IDBObjectStore,
    FileSystemFileHandle: disk ? { prototype: { createSyncAccessHandle() {} } } : undefined,
  };
  const restores = Object.entries(values).map(([name, value]) => replace(name, value));
  test.after(() => restores.forEach((restore) => restore()));
  return { disk: disk ?? new FakeDisk(), locks: lockManager };
}

/** @param {string} name @param {unknown} value */
function replace(name, value) {
  const before = Object.getOwnPropertyDescriptor(globalThis, name);
  Object.defineProperty(globalThis, name, { value, configurable: true, writable: true });
  return () => {
    if (before) Object.defineProperty(globalThis, name, before);
    else Reflect.deleteProperty(globalThis, name);
  };
}

/**
 * Web Locks (https://w3c.github.io/web-locks/) within one process, whose patience is a few turns of the event
 * loop.
 */
export class FakeLocks {
  /** @type {Map<string, {mode: string}[]>} */
  held = new Map();
  patience = 5;

  /** @param {string} name @param {{mode: string}} options @param {() => Promise<unknown>} work */
  async request(name, { mode }, work) {
    for (let turn = 0; this.#refuses(name, mode); turn += 1) {
      if (turn === this.patience) throw new DOMException('held', 'TimeoutError');
      await new Promise((resolve) => setImmediate(resolve));
    }
    const holder = { mode };
    this.held.set(name, [...(this.held.get(name) ?? []), holder]);
    try {
      await work();
    } finally {
      this.held.set(
        name,
        (this.held.get(name) ?? []).filter((one) => one !== holder),
      );
    }
  }

  /** @param {string} name @param {string} mode */
  #refuses(name, mode) {
    const holders = this.held.get(name) ?? [];
    return holders.some((holder) => mode === 'exclusive' || holder.mode === 'exclusive');
  }
}
