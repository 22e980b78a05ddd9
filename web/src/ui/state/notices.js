import { signal } from '@preact/signals';
import { whyNoAttention } from '../words/attention.js';
import { whatHappened } from '../words/explain.js';
import { t } from '../words/languages/words.js';

/** @typedef {import('../../engine/messages.js').Notice} Notice */

/** What the engine tells by itself, in words: what lasts stands above the messages, the rest is a toast. */
export class Notices {
  /**
   * @param {import('./toasts.js').Toasts} toasts
   * @param {import('./attention.js').Attention} attention
   * @param {() => number} tokens of the reply that is being made
   */
  constructor(toasts, attention, tokens) {
    this._toasts = toasts;
    this._attention = attention;
    this._tokens = tokens;
    /** Why the connection is not as it should be. */
    this.lasting = signal(/** @type {string | null} */ (null));
  }

  /** @param {Notice} notice */
  take(notice) {
    if (notice.type === 'no_attention') return this._noAttention(notice.code);
    const words = whatHappened(notice);
    const lost = this.lasting.value !== null;
    const lasting = ['reconnecting', 'waiting', 'calibrating'].includes(notice.type);
    this.lasting.value = lasting ? words : null;
    if (notice.type === 'reconnected' && lost) this._toasts.show(t('Connected again; the reply goes on'));
    else if (notice.type === 'resent' && words) this._toasts.show(words);
    return undefined;
  }

  /** A reply has ended: without one nobody reconnects any more. */
  ended() {
    this.lasting.value = null;
  }

  /** @param {string} code */
  _noAttention(code) {
    if (this._attention.refuse(code, this._tokens())) this._toasts.show(whyNoAttention(code));
  }
}
