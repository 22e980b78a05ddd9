/** Keeps the screen on while a reply is made (Screen Wake Lock, W3C), where the browser can. */

export class WakeLock {
  #navigator;
  #document;
  #held = false;
  /** @type {WakeLockSentinel|null} */
  #sentinel = null;
  #asking = false;

  /**
   * @param {{navigator?: Pick<Navigator, 'wakeLock'>,
   *   document?: Pick<Document, 'visibilityState'|'addEventListener'>}} [world]
   */
  constructor({ navigator = globalThis.navigator, document = globalThis.document } = {}) {
    this.#navigator = navigator;
    this.#document = document;
    // A browser takes the lock away when the page is hidden, and does not give it back.
    document.addEventListener('visibilitychange', () => void this.#ask());
  }

  /** False where the browser has no wake lock: http:// or an old one. */
  get supported() {
    return Boolean(this.#navigator.wakeLock);
  }

  /** Whether the screen is kept on right now. */
  get active() {
    return Boolean(this.#sentinel && !this.#sentinel.released);
  }

  /** From now on, also after the page was hidden. Never throws. */
  async hold() {
    this.#held = true;
    await this.#ask();
  }

  /** No more. Never throws. */
  async release() {
    this.#held = false;
    const sentinel = this.#sentinel;
    this.#sentinel = null;
    await sentinel?.release().catch(() => {});
  }

  async #ask() {
    if (!this.#held || !this.supported || this.active || this.#asking) return;
    if (this.#document.visibilityState !== 'visible') return;
    this.#asking = true;
    // Refused on a low battery, for example; the reply goes on without.
    const sentinel = await this.#navigator.wakeLock.request('screen').catch(() => null);
    this.#asking = false;
    if (this.#held) this.#sentinel = sentinel;
    else await sentinel?.release().catch(() => {});
  }
}
