// Shared things of the tabs of one browser: locks, a channel, and time that a test lets pass.

/** Web Locks of tabs that can be killed. */
export class FakeLocks {
  constructor() {
    /** @type {{name: string, tab: number, mode: string}[]} */
    this._held = [];
    /** @type {{free: () => boolean, grant: () => void}[]} */
    this._waiting = [];
  }

  /** The locks as one tab sees them. @param {number} tab @returns {any} */
  of(tab) {
    return { request: (/** @type {[string, any, any]} */ ...args) => this._request(tab, ...args) };
  }

  /** @param {number} tab */
  kill(tab) {
    this._held = this._held.filter((lock) => lock.tab !== tab);
    this._next();
  }

  /**
   * @param {number} tab @param {string} name @param {any} options
   * @param {(lock: object | null) => Promise<unknown>} held
   */
  async _request(tab, name, { mode = 'exclusive', ifAvailable = false, signal }, held) {
    const free = () =>
      this._held.every((lock) => lock.name !== name || (mode === 'shared' && lock.mode === 'shared'));
    if (!free() && ifAvailable) return held(null);
    if (!free()) {
      await new Promise((resolve, reject) => {
        this._waiting.push({ free, grant: () => resolve(undefined) });
        signal?.addEventListener('abort', () => reject(new DOMException('left', 'AbortError')));
      });
    }
    const lock = { name, tab, mode };
    this._held.push(lock);
    try {
      return await held(lock);
    } finally {
      this._held = this._held.filter((one) => one !== lock);
      this._next();
    }
  }

  _next() {
    const ready = this._waiting.filter(({ free }) => free());
    this._waiting = this._waiting.filter((one) => !ready.includes(one));
    for (const { grant } of ready) grant();
  }
}

/** Channels that hear each other, and timers that run when time passes. */
export class Tabs {
  constructor() {
    /** @type {any[]} */
    this._channels = [];
    /** @type {Set<() => void>} */
    this._runs = new Set();
    this.timers = {
      set: (/** @type {() => void} */ run) => {
        this._runs.add(run);
        return run;
      },
      clear: (/** @type {any} */ run) => void this._runs.delete(run),
    };
  }

  /** @returns {any} */
  channel() {
    const channel = {
      onmessage: (/** @type {any} */ _event) => {},
      postMessage: (/** @type {any} */ data) => {
        if (!this._channels.includes(channel)) return;
        const others = this._channels.filter((one) => one !== channel);
        for (const other of others) queueMicrotask(() => other.onmessage({ data: structuredClone(data) }));
      },
    };
    this._channels.push(channel);
    return channel;
  }

  /** @param {number} index */
  kill(index) {
    this._channels[index].onmessage = () => {};
    this._channels.splice(index, 1);
  }

  pass() {
    for (const run of [...this._runs]) run();
  }
}
