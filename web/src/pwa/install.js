/** Putting the app on the home screen. */

/** @typedef {Promise<{outcome: string}>} Choice */
/** @typedef {Event & {prompt: () => Promise<unknown>, userChoice: Choice}} InstallEvent */
/** ready: `ask` shows the browser's own question; by_hand: its user does, from a menu.
 * @typedef {'installed'|'ready'|'by_hand'|'none'} InstallState */

export class InstallPrompt {
  #window;
  #agent;
  /** @type {InstallEvent|null} */
  #event = null;
  #installed = false;

  /**
   * Made as the page starts: the browser tells only once that it can install.
   * @param {{window?: EventTarget & {matchMedia?: typeof matchMedia}, agent?: {userAgent: string,
   *   maxTouchPoints?: number, standalone?: boolean}}} [world]
   */
  constructor({ window = globalThis.window, agent = globalThis.navigator } = {}) {
    this.#window = window;
    this.#agent = /** @type {{userAgent: string, maxTouchPoints?: number, standalone?: boolean}} */ (agent);
    /** Called when `state` may be another one. */
    this.onChange = () => {};
    window.addEventListener('beforeinstallprompt', (event) => {
      event.preventDefault();
      this.#event = /** @type {InstallEvent} */ (event);
      this.onChange();
    });
    window.addEventListener('appinstalled', () => {
      this.#event = null;
      this.#installed = true;
      this.onChange();
    });
  }

  /** @returns {InstallState} */
  get state() {
    if (this.#installed || this.#standalone()) return 'installed';
    if (this.#event) return 'ready';
    return this.#onIos() ? 'by_hand' : 'none';
  }

  /** Shows the browser's question; only from a click, and once. @returns {Promise<'accepted'|'dismissed'>} */
  async ask() {
    const event = this.#event;
    this.#event = null;
    if (!event) return 'dismissed';
    await event.prompt();
    const { outcome } = await event.userChoice;
    this.onChange();
    return outcome === 'accepted' ? 'accepted' : 'dismissed';
  }

  #standalone() {
    if (this.#agent.standalone === true) return true;
    return this.#window.matchMedia?.('(display-mode: standalone)').matches ?? false;
  }

  /** iPads say that they are Macs; no Mac has a touch screen. */
  #onIos() {
    const { userAgent, maxTouchPoints = 0 } = this.#agent;
    return /iPhone|iPad|iPod/.test(userAgent) || (/Macintosh/.test(userAgent) && maxTouchPoints > 1);
  }
}
