// A cache storage and a server, as a service worker sees them.

/** Cache and CacheStorage (Service Workers, W3C), as far as the app uses them. */
export class FakeCaches {
  constructor() {
    /** @type {Map<string, Map<string, Response>>} */
    this.byName = new Map();
  }

  /** @param {string} name */
  async open(name) {
    const cache = this.byName.get(name) ?? new Map();
    this.byName.set(name, cache);
    return {
      match: async (/** @type {string} */ url) => cache.get(url)?.clone(),
      put: async (/** @type {string} */ url, /** @type {Response} */ answer) => void cache.set(url, answer),
    };
  }

  /** @param {string} name */
  async has(name) {
    return this.byName.has(name);
  }

  /** @param {string} name */
  async delete(name) {
    return this.byName.delete(name);
  }

  async keys() {
    return [...this.byName.keys()];
  }
}

export const ORIGIN = 'https://box.example';

/** A server of one build; `missing` paths are 404, `list` null: it has no list of its files. */
export class FakeServer {
  /** @param {string} build */
  constructor(build) {
    /** @type {{url: string, options: RequestInit}[]} */
    this.asked = [];
    /** @type {Set<string>} */
    this.missing = new Set();
    this.online = true;
    this.serve(build);
  }

  /** @param {string} build */
  serve(build) {
    const scripts = [`/app/${build}/app.js`, `/app/${build}/engine.js`];
    this.files = ['/', ...scripts, '/manifest.webmanifest', '/icons/icon.svg'];
    /** @type {unknown} */
    this.list = { build, files: this.files };
    this.page = `<script src="/app/${build}/app.js"></script><link href="/manifest.webmanifest">`;
    this.build = build;
  }

  /** @param {string} url @param {RequestInit} options @returns {Promise<Response>} */
  fetch = async (url, options) => {
    this.asked.push({ url, options });
    if (!this.online) throw new TypeError('offline');
    const path = new URL(url).pathname;
    if (this.missing.has(path)) return new Response('', { status: 404 });
    if (path === '/app-files.json') {
      return this.list === null ? new Response('', { status: 404 }) : Response.json(this.list);
    }
    const headers = { 'content-encoding': 'gzip', vary: 'Accept-Encoding', 'content-security-policy': 'x' };
    return new Response(path === '/' ? this.page : `${this.build} ${path}`, { headers });
  };
}

/**
 * @param {string} path
 * @param {{method?: string, mode?: string, headers?: Record<string, string>}} [options]
 */
export function requestOf(path, { method = 'GET', mode = 'cors', headers = {} } = {}) {
  const url = new URL(path, ORIGIN).href;
  return /** @type {Request} */ (/** @type {any} */ ({ url, method, mode, headers: new Headers(headers) }));
}
