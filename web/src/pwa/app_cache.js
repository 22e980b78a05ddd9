/**
 * The app's files, kept for when there is no network: one cache for each build, and a pointer to
 * the build that is served. A build counts once all its files are in; the one before is kept for
 * pages that are still open.
 */
import { LIST, checkedList, listInPage, mayKeep } from './app_files.js';

/** @typedef {import('./app_files.js').AppFiles} AppFiles */
/** @typedef {(url: string, options: RequestInit) => Promise<Response>} Fetch */

const PREFIX = 'gatelink-app-';
const POINTER = 'gatelink-current';
const LARGEST_FILE = 4 << 20;

export class AppCache {
  /**
   * @param {{caches: CacheStorage, fetch: Fetch, origin: string}} world
   */
  constructor({ caches, fetch, origin }) {
    this.caches = caches;
    this.fetch = fetch;
    this.origin = origin;
    /** @type {Promise<string|null>|null} */
    this.updating = null;
  }

  /**
   * Fetches the newest build unless it is here. Nothing changes if a file of it cannot be had.
   * @returns {Promise<string|null>} the build that is now served and was not before
   */
  update() {
    this.updating ??= this.#update().finally(() => {
      this.updating = null;
    });
    return this.updating;
  }

  /**
   * What to answer without the network; null: the network's business.
   * @param {Request} request @returns {Promise<Response|null>}
   */
  async answer(request) {
    const path = this.#pathOf(request);
    if (path === null) return null;
    const own = /^\/app\/([\w-]{1,64})\//.exec(path)?.[1];
    const build = own ?? (await this.current())?.build;
    if (!build || !(await this.caches.has(PREFIX + build))) return null;
    const cache = await this.caches.open(PREFIX + build);
    return (await cache.match(this.origin + path, { ignoreVary: true })) ?? null;
  }

  /** The list of the build that is served. @returns {Promise<AppFiles|null>} */
  async current() {
    const kept = await (await this.caches.open(POINTER)).match(this.origin + LIST);
    return kept ? checkedList(await kept.json()) : null;
  }

  /** Whether a request may be answered from here at all. @param {Request} request */
  mayAnswer(request) {
    return this.#pathOf(request) !== null;
  }

  /** @param {Request} request */
  #pathOf(request) {
    const url = new URL(request.url);
    if (request.method !== 'GET' || url.origin !== this.origin || !mayKeep(url.pathname)) return null;
    if (request.headers.has('authorization') || request.headers.has('range')) return null;
    if (request.mode === 'navigate' && url.pathname !== '/') return null;
    return url.pathname;
  }

  /** @returns {Promise<string|null>} */
  async #update() {
    const list = await this.#newest();
    const before = await this.current();
    if (list.build === before?.build && (await this.caches.has(PREFIX + list.build))) return null;
    try {
      await this.#fill(list);
    } catch (error) {
      await this.caches.delete(PREFIX + list.build);
      throw error;
    }
    await (await this.caches.open(POINTER)).put(this.origin + LIST, Response.json(list));
    await this.#forget([list.build, before?.build]);
    return list.build;
  }

  /** @returns {Promise<AppFiles>} */
  async #newest() {
    const answer = await this.#get(LIST, 'no-store').catch(() => null);
    const list = answer && checkedList(await answer.json().catch(() => null));
    if (list) return list;
    const page = await this.#get('/', 'no-store');
    const found = listInPage(await page.text(), `${this.origin}/`);
    if (!found) throw new Error('the page names no build');
    return found;
  }

  /** @param {AppFiles} list */
  async #fill({ build, files }) {
    const cache = await this.caches.open(PREFIX + build);
    for (const path of files) {
      // What carries its build in its name never changes.
      const answer = await this.#get(path, path.startsWith(`/app/${build}/`) ? 'default' : 'no-cache');
      await cache.put(this.origin + path, await bounded(answer));
    }
  }

  /** @param {string} path @param {RequestCache} cache @returns {Promise<Response>} */
  async #get(path, cache) {
    const answer = await this.fetch(this.origin + path, { cache, credentials: 'omit', redirect: 'error' });
    if (answer.status !== 200) throw new Error(`${path} answers ${answer.status}`);
    return answer;
  }

  /** @param {(string|undefined)[]} builds that stay */
  async #forget(builds) {
    for (const name of await this.caches.keys()) {
      const build = name.startsWith(PREFIX) ? name.slice(PREFIX.length) : null;
      if (build !== null && !builds.includes(build)) await this.caches.delete(name);
    }
  }
}

/**
 * A copy that is in memory whole: a cut answer is none.
 * @param {Response} answer @returns {Promise<Response>}
 */
async function bounded(answer) {
  const body = await answer.arrayBuffer();
  if (body.byteLength > LARGEST_FILE) throw new Error('a file of the app is too large');
  const headers = new Headers(answer.headers);
  // The body is decoded here, and every request for a path gets the same one.
  for (const name of ['content-encoding', 'content-length', 'vary']) headers.delete(name);
  return new Response(body, { status: 200, headers });
}
