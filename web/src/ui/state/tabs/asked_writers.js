/** @typedef {import('./writers.js').Writers} Writers */
/**
 * Chats: one that is written, one that is no more, one that somebody wants to know about.
 * @typedef {{writes?: string, ended?: string, asks?: string}} Said
 */

// A tab in the background answers at once, though its own timers may run once in a minute.
const EVERY_MS = 2000;
const MOST_UNANSWERED = 2;

const TIMERS = {
  set: (/** @type {() => void} */ run, /** @type {number} */ ms) => setInterval(run, ms),
  clear: (/** @type {any} */ timer) => clearInterval(timer),
};

/** Tabs ask each other; one that answers no more has ended. @implements {Writers} */
export class AskedWriters {
  /**
   * @param {Pick<BroadcastChannel, 'postMessage' | 'onmessage'>} channel
   * @param {{set: (run: () => void, ms: number) => unknown, clear: (timer: any) => void}} [timers]
   */
  constructor(channel, timers = TIMERS) {
    this._channel = channel;
    this._timers = timers;
    /** @type {Set<string>} */
    this._own = new Set();
    /** @type {Set<Watch>} */
    this._watches = new Set();
    channel.onmessage = ({ data }) => this._heard(data ?? {});
  }

  /** @param {string} chat */
  begin(chat) {
    this._own.add(chat);
    this._say({ writes: chat });
    return () => {
      if (this._own.delete(chat)) this._say({ ended: chat });
    };
  }

  /** @param {string} chat @param {(writing: boolean) => void} onWriting */
  watch(chat, onWriting) {
    const watch = new Watch(chat, onWriting, () => this._say({ asks: chat }), this._timers);
    this._watches.add(watch);
    this._say({ asks: chat });
    return () => {
      watch.end();
      this._watches.delete(watch);
    };
  }

  /** @param {Said} said */
  _heard({ writes, ended, asks }) {
    if (asks !== undefined && this._own.has(asks)) this._say({ writes: asks });
    for (const watch of this._watches) {
      if (watch.chat === writes) watch.writes();
      else if (watch.chat === ended) watch.ended();
    }
  }

  /** @param {Said} said */
  _say(said) {
    this._channel.postMessage(said);
  }
}

/** One chat that another tab may be writing. */
class Watch {
  /**
   * @param {string} chat @param {(writing: boolean) => void} onWriting @param {() => void} ask
   * @param {AskedWriters['_timers']} timers
   */
  constructor(chat, onWriting, ask, timers) {
    this.chat = chat;
    this._onWriting = onWriting;
    this._ask = ask;
    this._timers = timers;
    /** @type {unknown} */
    this._timer = null;
    this._unanswered = 0;
  }

  writes() {
    this._unanswered = 0;
    if (this._timer !== null) return;
    this._timer = this._timers.set(() => this._again(), EVERY_MS);
    this._onWriting(true);
  }

  ended() {
    if (this._timer === null) return;
    this.end();
    this._onWriting(false);
  }

  end() {
    if (this._timer !== null) this._timers.clear(this._timer);
    this._timer = null;
  }

  _again() {
    if (this._unanswered >= MOST_UNANSWERED) return this.ended();
    this._unanswered += 1;
    return this._ask();
  }
}
