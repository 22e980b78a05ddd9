import { signal } from '@preact/signals';
import { describeError } from '../../../common/errors.js';
import { sentence } from '../../words/explain.js';

/** @typedef {import('../../../chats/types').FoundChat} FoundChat */
/** @typedef {{words: string, found: FoundChat[], leftOut: number}} Found */

/** The search of all saved chats; of several the latest counts. */
export class Search {
  /**
   * @param {() => import('../../../chats/store.js').ChatStore | null} store null: it is not open yet
   * @param {import('../toasts.js').Toasts} toasts
   */
  constructor(store, toasts) {
    this._store = store;
    this._toasts = toasts;
    /** @type {AbortController | null} */
    this._running = null;
    /** @type {import('@preact/signals').Signal<Found | null>} */
    this.found = signal(null);
  }

  /** @param {string} words none: the whole list again */
  async run(words) {
    this._running?.abort();
    if (!words.trim()) {
      this.found.value = null;
      return;
    }
    const search = new AbortController();
    this._running = search;
    try {
      const result = await this._store()?.search(words, { signal: search.signal });
      if (result && !search.signal.aborted) this.found.value = { words, ...result };
    } catch (error) {
      if (!search.signal.aborted) this._toasts.show(sentence(describeError(error).message));
    }
  }
}
