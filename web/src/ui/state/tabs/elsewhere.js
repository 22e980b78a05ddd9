import { effect, signal } from '@preact/signals';

/** The state of the shown chat in other tabs: whether one of them writes its reply. */
export class Elsewhere {
  /**
   * @param {import('./writers.js').Writers} writers
   * @param {import('@preact/signals').Signal<{id: string}>} shown another object with every change of the chat
   */
  constructor(writers, shown) {
    this._writers = writers;
    this.writing = signal(false);
    this._chat = '';
    this._stop = () => {};
    // Who begins to write saves the chat then, so a change is when to look again.
    effect(() => this._watch(shown.value.id));
  }

  /** @param {string} chat */
  _watch(chat) {
    // Who is known to write is watched already. Asked anew, a tab that is gone by now would not answer, and
    // nothing would tell of its end.
    if (chat === this._chat && this.writing.peek()) return;
    this._stop();
    if (chat !== this._chat) this.writing.value = false;
    this._chat = chat;
    this._stop = this._writers.watch(chat, (writing) => (this.writing.value = writing));
  }
}
