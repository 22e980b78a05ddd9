import { IDBFactory, IDBKeyRange } from 'fake-indexeddb';
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

/** Web Locks (https://w3c.github.io/web-locks/) within one process, without queues: a refused request runs out of time at once. */
export class FakeLocks {
  /** @type {Map<string, {mode: string}[]>} */
  held = new Map();

  /** @param {string} name @param {{mode: string, signal: AbortSignal}} options @param {() => Promise<unknown>} work */
  async request(name, { mode }, work) {
    const holders = this.held.get(name) ?? [];
    const refused = holders.some((holder) => mode === 'exclusive' || holder.mode === 'exclusive');
    if (refused) throw new DOMException('held', 'TimeoutError');
    const holder = { mode };
    this.held.set(name, [...holders, holder]);
    try {
      await work();
    } finally {
      this.held.set(name, (this.held.get(name) ?? []).filter((one) => one !== holder));
    }
  }
}
