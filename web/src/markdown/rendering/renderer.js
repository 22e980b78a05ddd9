/**
 * The page's side of the rendering worker. Formulas and code come from a model, and the patterns that read
 * them from packages, so each job has a time limit, after which the worker is ended.
 */

/** @typedef {import('./types').Job} Job */
/** @typedef {import('./types').Result} Result */
/** @typedef {Pick<Worker, 'postMessage' | 'terminate' | 'onmessage' | 'onerror'>} RenderingWorker */
/** @typedef {{job: Job, key: string, done: Promise<void>, settle: () => void}} Waiting */

const LONGEST = 20_000;
const MOST_WAITING = 1000;
const MOST_KEPT = 1000;
const KEPT_CHARACTERS = 1 << 20;
const MOST_FAILURES = 5;
const SECONDS = 2;
// The worker and its parts are fetched first.
const FIRST_SECONDS = 20;

export class Renderer {
  /**
   * @param {{spawn?: () => RenderingWorker,
   *   timers?: {set: (run: () => void, ms: number) => unknown, clear: (timer: any) => void}}} [needs]
   */
  constructor({ spawn = spawnWorker, timers = TIMERS } = {}) {
    this._spawn = spawn;
    this._timers = timers;
    /** @type {RenderingWorker | null} */
    this._worker = null;
    /** Kinds of jobs that the worker has answered. @type {Set<string>} */
    this._loaded = new Set();
    /** @type {Map<string, Waiting>} */
    this._waiting = new Map();
    this._running = false;
    this._failures = 0;
    /** The one that was asked for last comes last. @type {Map<string, Result>} */
    this._kept = new Map();
    this._keptCharacters = 0;
  }

  /** What is known already; null: it cannot be rendered. @param {Job} job @returns {Result | undefined} */
  kept(job) {
    const given = job.text.length <= LONGEST && this._failures < MOST_FAILURES;
    return this._kept.get(keyOf(job)) ?? (given && !this._kept.has(keyOf(job)) ? undefined : null);
  }

  /** Asks for a result, which is among the kept ones then. @param {Job} job @returns {Promise<void>} */
  ask(job) {
    const key = keyOf(job);
    if (this.kept(job) !== undefined) return Promise.resolve();
    const waiting = this._waiting.get(key);
    if (waiting) return waiting.done;
    if (this._waiting.size >= MOST_WAITING) return Promise.resolve();
    let settle = () => {};
    const done = /** @type {Promise<void>} */ (new Promise((resolve) => (settle = () => resolve(undefined))));
    this._waiting.set(key, { job, key, done, settle });
    if (!this._running) void this._run();
    return done;
  }

  async _run() {
    this._running = true;
    for (let next = this._first(); next; next = this._first()) {
      const result = this._failures < MOST_FAILURES ? await this._resultOf(next.job) : null;
      this._keep(next.key, result);
      this._waiting.delete(next.key);
      next.settle();
    }
    this._running = false;
  }

  _first() {
    return this._waiting.values().next().value;
  }

  /** @param {Job} job @returns {Promise<Result>} */
  _resultOf(job) {
    return new Promise((resolve) => {
      const seconds = this._loaded.has(job.kind) ? SECONDS : FIRST_SECONDS;
      const timer = this._timers.set(() => failed(), 1000 * seconds);
      const failed = () => {
        this._timers.clear(timer);
        this._failures += 1;
        this._end();
        resolve(null);
      };
      try {
        const worker = (this._worker ??= this._spawn());
        worker.onerror = failed;
        worker.onmessage = ({ data }) => {
          this._timers.clear(timer);
          this._loaded.add(job.kind);
          resolve(data);
        };
        worker.postMessage(job);
      } catch {
        failed();
      }
    });
  }

  _end() {
    const worker = this._worker;
    this._worker = null;
    this._loaded.clear();
    if (!worker) return;
    worker.onmessage = null;
    worker.onerror = null;
    worker.terminate();
  }

  /** @param {string} key @param {Result} result */
  _keep(key, result) {
    this._kept.set(key, result);
    this._keptCharacters += key.length;
    for (const oldest of this._kept.keys()) {
      if (this._kept.size <= MOST_KEPT && this._keptCharacters <= KEPT_CHARACTERS) return;
      this._kept.delete(oldest);
      this._keptCharacters -= oldest.length;
    }
  }
}

const TIMERS = {
  set: (/** @type {() => void} */ run, /** @type {number} */ ms) => setTimeout(run, ms),
  clear: (/** @type {any} */ timer) => clearTimeout(timer),
};

/** @param {Job} job */
export function keyOf(job) {
  return job.kind === 'formula' ? `${job.display ? '$$' : '$'}\n${job.text}` : `${job.lang}\n\n${job.text}`;
}

/** @returns {RenderingWorker} */
function spawnWorker() {
  return new Worker(new URL('./rendering.js', import.meta.url), { type: 'module', name: 'rendering' });
}
