import { signal } from '@preact/signals';
import { ASK } from '../../../chats/context/choice.js';
import { kept } from '../../../chats/tree.js';

/** @typedef {import('../../../chats/types').Chat} Chat */
/** @typedef {import('../../../engine/messages.js').Fill} Fill */
/** A count of one state of a chat, by one server's model. @typedef {{chat: Chat, server: unknown, fill: Fill}} Counted */

// What is typed is counted when the typing pauses.
const PAUSE_MS = 150;
// Characters of a message that are counted while it is typed.
export const MOST_COUNTED = 20_000;

const TIMERS = {
  set: (/** @type {() => void} */ run, /** @type {number} */ ms) => setTimeout(run, ms),
  clear: (/** @type {any} */ timer) => clearTimeout(timer),
};

/** How full the context of the shown chat is, and what the message adds that is being written. */
export class Meter {
  /**
   * @param {{library: import('../chats/library.js').Library, connection: import('../connection.js').Connection,
   *   gate: import('../redaction/gate.js').Gate, draft: () => string, busy: () => boolean,
   *   timers?: {set: (run: () => void, ms: number) => unknown, clear: (timer: any) => void}}} needs
   *   draft: the message that is being written, with its files; busy: whether a reply of the shown chat is being made, which no count of the whole chat holds up
   */
  constructor({ library, connection, gate, draft, busy, timers = TIMERS }) {
    this._library = library;
    this._gate = gate;
    this._connection = connection;
    this._draft = draft;
    this._busy = busy;
    this._timers = timers;
    /** @type {unknown} */
    this._timer = null;
    this._counting = false;
    this._again = false;
    /** @type {import('@preact/signals').Signal<Counted | null>} */
    this.counted = signal(null);
    /** Tokens of what is being written. */
    this.typed = signal(0);
  }

  /** The newest count of the shown chat, which may be one message behind. @returns {Fill | null} */
  get fill() {
    const counted = this.counted.value;
    return counted?.chat.id === this._library.chat.value.id ? counted.fill : null;
  }

  /** Tokens that the shown chat may have; null: no model is known. @returns {number | null} */
  get budget() {
    const limit = this.fill?.limit ?? this._connection.phase.value.server?.manifest.maxContext ?? null;
    const { budget } = this._library.chat.value.context ?? ASK;
    return limit === null ? null : Math.min(budget ?? limit, limit);
  }

  /** Something has changed: count soon. */
  ask() {
    this._timers.clear(this._timer);
    this._timer = this._timers.set(() => void this.count(), PAUSE_MS);
  }

  /** What was written is part of the chat from now on. */
  sent() {
    const counted = this.counted.value;
    if (counted) this.counted.value = { ...counted, fill: { ...counted.fill, total: counted.fill.total + this.typed.value } };
    this.typed.value = 0;
  }

  /** One count at a time; what changed meanwhile is counted after it. */
  async count() {
    this._again = this._counting;
    if (this._counting || this._connection.phase.value.name !== 'ready') return;
    this._counting = true;
    try {
      await this._count();
    } finally {
      this._counting = false;
    }
    if (this._again) this.ask();
  }

  async _count() {
    const chat = this._library.chat.value;
    const { server } = this._connection.phase.value;
    const same = this.counted.value?.chat === chat && this.counted.value.server === server;
    const known = this._busy() || same;
    const text = this._draft().slice(0, MOST_COUNTED);
    try {
      const { fill, text: typed } = await this._gate.of(chat).count(chat.id, known ? null : kept(chat), text);
      this.typed.value = typed;
      if (fill) this.counted.value = { chat, server, fill };
    } catch {
      // A chat that its template refuses has no prompt, which is said when it is sent.
      if (!known) this.counted.value = null;
    }
  }
}
