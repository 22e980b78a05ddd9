/**
 * Saves of a chat while a reply streams into it: not at every token, one at a time, the newest last.
 * A page that dies in between has lost what came after its last save, and nothing else.
 */

/** @typedef {import('./types').Chat} Chat */

const SECOND = 1000;
// Saving a very long chat takes a while itself; it may take this share of the time.
const SHARE = 10;

export class SavePoints {
  #saved;
  #every;
  #now;
  #later;
  #cancel;
  #onError;
  /** @type {Chat|null} */
  #waiting = null;
  /** @type {any} */
  #timer = null;
  /** @type {Promise<void>|null} */
  #running = null;
  #notBefore = 0;

  /**
   * @param {(chat: Chat) => Promise<void>} save
   * @param {{every?: number, now?: () => number, later?: (work: () => void, ms: number) => unknown,
   *   cancel?: (timer: any) => void, onError?: (error: unknown) => void}} [options] every: milliseconds;
   *   onError: a save point failed; `finish` throws by itself
   */
  constructor(save, options = {}) {
    this.#saved = save;
    this.#every = options.every ?? SECOND;
    this.#now = options.now ?? (() => performance.now());
    this.#later = options.later ?? ((work, ms) => setTimeout(work, ms));
    this.#cancel = options.cancel ?? clearTimeout;
    this.#onError = options.onError ?? (() => {});
  }

  /** Takes note of the newest state; it is saved soon. @param {Chat} chat */
  offer(chat) {
    this.#waiting = chat;
    if (this.#timer !== null || this.#running) return;
    this.#timer = this.#later(() => void this.#save(), Math.max(0, this.#notBefore - this.#now()));
  }

  /** Saves what waits at once, before a page is hidden for example. */
  async flush() {
    await this.#running;
    await this.#save();
  }

  /**
   * Saves the last state; save points that wait are dropped. Throws what saving throws.
   * @param {Chat} chat
   */
  async finish(chat) {
    this.#drop();
    await this.#running;
    this.#drop();
    await this.#saved(chat);
  }

  #drop() {
    if (this.#timer !== null) this.#cancel(this.#timer);
    this.#timer = null;
    this.#waiting = null;
  }

  async #save() {
    const chat = this.#waiting;
    this.#drop();
    if (!chat) return;
    const begun = this.#now();
    this.#running = this.#saved(chat).catch(this.#onError);
    await this.#running;
    this.#running = null;
    this.#notBefore = this.#now() + Math.max(this.#every, SHARE * (this.#now() - begun));
    if (this.#waiting) this.offer(this.#waiting);
  }
}
