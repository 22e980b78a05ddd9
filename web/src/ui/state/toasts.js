import { signal } from '@preact/signals';

const SHOWN_MS = 4000;
// Long enough to read, to decide and to reach for it.
const WITH_ACTION_MS = 9000;
const MOST = 3;

/** @typedef {{id: number, text: string, action: {label: string, run: () => void} | null}} Toast */

/** Short messages at the foot of the page; some can be acted on while they stand. */
export class Toasts {
  /** @param {(run: () => void, ms: number) => unknown} [later] */
  constructor(later = (run, ms) => setTimeout(run, ms)) {
    this._later = later;
    this._next = 1;
    /** @type {import('@preact/signals').Signal<Toast[]>} */
    this.shown = signal([]);
  }

  /**
   * @param {string} text
   * @param {{label: string, run: () => void}} [action] the toast goes when it is used
   * @returns {number}
   */
  show(text, action) {
    const id = this._next++;
    const run = () => {
      this.dismiss(id);
      action?.run();
    };
    const toast = { id, text, action: action ? { label: action.label, run } : null };
    const others = this.shown.value.filter((other) => other.text !== text);
    this.shown.value = [...others.slice(1 - MOST), toast];
    this._later(() => this.dismiss(id), action ? WITH_ACTION_MS : SHOWN_MS);
    return id;
  }

  /** @param {number} id */
  dismiss(id) {
    this.shown.value = this.shown.value.filter((toast) => toast.id !== id);
  }
}
